#!/usr/bin/env python3
"""Writes the machines of machine_map_test.cpp, as `lstopo --of xml` would describe servers
of their shape: only what matters for the choice of a NIC is in them.

    tests/transport/rdma/topologies/write.py    # writes *.xml beside itself
"""

from itertools import count
from pathlib import Path
from xml.etree import ElementTree as xml

cores_per_node = 2


class Machine:
    def __init__(self, packages, nodes_per_package):
        self.numbers = count(1)
        nodes = packages * nodes_per_package
        self.root = self.place(None, "Machine", 0, range(nodes))
        self.nodes = []
        for package in range(packages):
            mine = range(package * nodes_per_package, (package + 1) * nodes_per_package)
            above = self.place(self.root, "Package", package, mine)
            for node in mine:
                group = above if len(mine) == 1 else self.place(above, "Group", node, [node])
                self.place(group, "NUMANode", node, [node], local_memory=str(64 << 30))
                for core in range(node * cores_per_node, (node + 1) * cores_per_node):
                    self.place(self.place(group, "Core", core, [node], [core]), "PU", core,
                               [node], [core])
                self.nodes.append(group)
        self.buses = count(0x10)

    def place(self, above, kind, index, nodes, cores=None, **more):
        if cores is None:
            cores = [n * cores_per_node + c for n in nodes for c in range(cores_per_node)]
        sets = {"cpuset": hex(sum(1 << c for c in cores)),
                "nodeset": hex(sum(1 << n for n in nodes))}
        sets |= {"complete_" + name: value for name, value in sets.items()}
        if kind == "Machine":
            sets |= {"allowed_cpuset": sets["cpuset"], "allowed_nodeset": sets["nodeset"]}
        return self.object(above, kind, os_index=str(index), **sets, **more)

    def object(self, above, kind, **attributes):
        attributes = {"type": kind, "gp_index": str(next(self.numbers)), **attributes}
        return xml.Element("object", attributes) if above is None else xml.SubElement(
            above, "object", attributes)

    def root_complex(self, node):
        bus = next(self.buses)
        return self.object(self.nodes[node], "Bridge", bridge_type="0-1", depth="0",
                           bridge_pci=f"0000:[{bus:02x}-ff]")

    def bridge(self, above):
        bus = next(self.buses)
        depth = int(above.get("depth")) + 1
        return self.object(above, "Bridge", bridge_type="1-1", depth=str(depth),
                           bridge_pci=f"0000:[{bus + 1:02x}-ff]",
                           pci_busid=f"0000:{bus:02x}:00.0",
                           pci_type="0604 [1000:c030] [1000:100b] b0", pci_link_speed="63.0")

    def device(self, above, bus_id, pci_type, name=None):
        found = self.object(self.bridge(above), "PCIDev", pci_busid=bus_id,
                            pci_type=pci_type, pci_link_speed="63.0")
        if name:
            self.object(found, "OSDev", name=name, osdev_type="3")

    def nic(self, above, number):
        self.device(above, f"0000:{0xa0 + number:02x}:00.0", "0207 [15b3:1021] [15b3:0041] 00",
                    f"mlx5_{number}")

    def gpu(self, above, number):
        self.device(above, f"0000:{0xc0 + number:02x}:00.0", "0302 [10de:2330] [10de:16c1] a1")

    def write(self, name):
        whole = xml.Element("topology", version="2.0")
        whole.append(self.root)
        xml.indent(whole)
        Path(__file__).with_name(name).write_text(
            '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n'
            + xml.tostring(whole, encoding="unicode") + "\n")


# Two packages of one NUMA node; two PCIe switches each, with two GPUs and two NICs behind
# each; and a NIC for storage at the second package's root complex.
machine = Machine(packages=2, nodes_per_package=1)
for switch in range(4):
    below = machine.bridge(machine.bridge(machine.root_complex(switch // 2)))
    for number in (2 * switch, 2 * switch + 1):
        machine.gpu(below, number)
        machine.nic(below, number)
machine.nic(machine.root_complex(1), 8)
machine.write("eight_gpus.xml")

# Two packages of two NUMA nodes, a NIC at the first of each; no switches.
machine = Machine(packages=2, nodes_per_package=2)
for number, node in enumerate((0, 2)):
    machine.nic(machine.root_complex(node), number)
machine.write("four_nodes.xml")

# One package, one NUMA node; a tree of switches: a GPU and a NIC behind each of two, which
# are behind a third, as is another NIC.
machine = Machine(packages=1, nodes_per_package=1)
top = machine.bridge(machine.bridge(machine.root_complex(0)))
for number in (0, 1):
    leaf = machine.bridge(machine.bridge(top))
    machine.gpu(leaf, number)
    machine.nic(leaf, number)
machine.nic(top, 2)
machine.write("switch_tree.xml")
