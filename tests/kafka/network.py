# SPDX-License-Identifier: BSD-3-Clause
"""Machines that are network namespaces on one bridge, so that what goes between any two of them can be lost. For a process
that has a network of its own already (run.sh): nothing of it is seen outside, and it ends with the process."""
import subprocess
import time

PREFIX = '10.77.0'
NOWHERE = '02:00:00:00:00:01'


def ip(*lines, inside=None):
    command = (['nsenter', '-t', str(inside), '-n'] if inside else []) + ['ip', '-batch', '-']
    subprocess.run(command, input='\n'.join(lines), text=True, check=True, timeout=60)


class Network:
    def __init__(self):
        self.machines, self.lost = {}, set()
        ip('link set lo up', 'link add name switch type bridge', 'addr add %s.254/24 dev switch' % PREFIX, 'link set switch up')

    def add(self, number):
        """A machine; gives the process whose namespace it is."""
        holder = subprocess.Popen(['unshare', '-n', 'sleep', 'infinity'])
        while self.name(holder.pid) == self.name('self'):
            assert holder.poll() is None, 'no network namespace'
            time.sleep(0.01)
        ip('link add name m%d type veth peer name eth0 netns %d' % (number, holder.pid), 'link set m%d master switch up' % number)
        ip('link set lo up', 'addr add %s dev eth0' % (self.address(number) + '/24'), 'link set eth0 up', inside=holder.pid)
        self.machines[number] = holder
        return holder.pid

    @staticmethod
    def name(pid):
        return subprocess.run(['readlink', '/proc/%s/ns/net' % pid], stdout=subprocess.PIPE, text=True, check=True).stdout

    @staticmethod
    def address(number):
        return '%s.%d' % (PREFIX, number)

    def lose(self, a, b):
        """What a sends to b goes nowhere, without a notice."""
        ip('neigh replace %s lladdr %s nud permanent dev eth0' % (self.address(b), NOWHERE), inside=self.machines[a].pid)
        self.lost.add((a, b))

    def cut(self, side, both=True):
        """Between these and all other machines; not both: only what these send."""
        for a in side:
            for b in set(self.machines) - set(side):
                self.lose(a, b)
                if both:
                    self.lose(b, a)

    def heal(self):
        for a, b in self.lost:
            ip('neigh del %s dev eth0' % self.address(b), inside=self.machines[a].pid)
        self.lost = set()

    def close(self):
        for holder in self.machines.values():
            holder.kill()
            holder.wait()
