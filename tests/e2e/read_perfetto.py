# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Reads a Perfetto trace with Perfetto's own descriptions, as its trace processor does, and prints what is in it.

read_perfetto.py FILE [LIST]: lines "state NAME COUNT NS", "run COUNT NS", "wakes N", "flows N", "samples N", "tracks N", "process PID NAME",
"attribute KEY VALUE", "uuid NUMBER", "kernel RELEASE".
LIST gets a line for each thing: "state TS NS GOID NAME", "run TS NS GOID", "wake TS GOID", "flow TS TO GOID",
of threads of a Go program "on TID GOID NS", their sum, and "off TS NS GOID"; "labels TS NAME LABELS" of a slice of a
goroutine with pprof labels, as JSON.
Fails if a packet has a field that Perfetto does not know, a reference has nothing to refer to, times go back,
slices do not nest or have no end, a flow begins twice or ends before it begins.
"""

import json
import sys
import zlib
from collections import defaultdict

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

CLEARED, NEEDS = 1, 2
BEGIN, END, INSTANT, COUNTER, STATE = 1, 2, 3, 4, 5


def fail(text):
    sys.exit(f"read_perfetto.py: {text}")


def packets(data):
    trace = pb.Trace.FromString(data)
    if trace.SerializeToString() != data and not trace.packet:
        fail("no packets")
    for packet in trace.packet:
        if packet.HasField("compressed_packets"):
            raw = zlib.decompress(packet.compressed_packets)
            if len(raw) > 512 << 10:
                fail(f"{len(raw)} bytes in one compressed packet")
            yield from pb.Trace.FromString(raw).packet
        else:
            yield packet


class Sequence:
    """What packets of one sequence share."""

    def __init__(self):
        self.now = 0
        self.started = False
        self.interned = defaultdict(dict)

    def intern(self, data):
        for kind, values in data.ListFields():
            for value in values:
                known = self.interned[kind.name]
                if known.get(value.iid, value) != value:
                    fail(f"{kind.name} {value.iid} has two meanings")
                known[value.iid] = value
        for stack in data.callstacks:
            for frame in stack.frame_ids:
                self.need("frames", frame)
        for frame in data.frames:
            if frame.function_name_id:
                self.need("function_names", frame.function_name_id)

    def need(self, kind, iid):
        if iid not in self.interned[kind]:
            fail(f"{kind} {iid} is not interned")
        return self.interned[kind][iid]


class Reader:
    def __init__(self):
        self.sequences = defaultdict(Sequence)
        self.tracks = {}
        self.slices = defaultdict(list)
        self.states = {}
        self.totals = defaultdict(lambda: [0, 0])
        self.flows = {}
        self.counts = defaultdict(int)
        self.goids = {}
        self.list = []
        self.on = defaultdict(int)
        self.cpus = defaultdict(int)  # name of a track -> ns

    def take(self, packet):
        seq = self.sequences[packet.trusted_packet_sequence_id]
        if not packet.trusted_packet_sequence_id:
            fail("a packet belongs to no sequence")
        if packet.sequence_flags & CLEARED:
            seq.started = True
            seq.now = next(c.timestamp for c in packet.clock_snapshot.clocks if c.is_incremental)
        if not seq.started or not packet.sequence_flags & NEEDS:
            fail("a packet stands before its sequence begins")
        time = packet.timestamp
        if packet.HasField("timestamp") and not packet.HasField("timestamp_clock_id"):
            seq.now += packet.timestamp
            time = seq.now
        seq.intern(packet.interned_data)
        if packet.HasField("track_descriptor"):
            self.descriptor(packet.track_descriptor)
        elif packet.HasField("track_event"):
            self.event(seq, packet.track_event, time)
        elif packet.HasField("trace_attributes"):
            for one in packet.trace_attributes.attribute:
                print("attribute", one.key, one.string_value if one.HasField("string_value") else one.long_value)
        elif packet.HasField("trace_uuid"):
            print("uuid", (packet.trace_uuid.msb << 64) + packet.trace_uuid.lsb)
        elif packet.HasField("system_info"):
            print("kernel", packet.system_info.utsname.release)
        elif packet.HasField("stack_sample"):
            seq.need("callstacks", packet.stack_sample.callstack_iid)
            self.counts["samples"] += 1

    def descriptor(self, track):
        if track.uuid in self.tracks:
            fail(f"track {track.uuid} is described twice")
        if track.parent_uuid and track.parent_uuid not in self.tracks:
            fail(f"track {track.uuid} has a parent that is not there")
        self.tracks[track.uuid] = track

    def event(self, seq, event, time):
        if event.track_uuid not in self.tracks:
            fail(f"an event has the track {event.track_uuid}, which is not there")
        name = seq.need("event_names", event.name_iid).name if event.name_iid else ""
        if event.callstack_iid:
            seq.need("callstacks", event.callstack_iid)
        categories = [seq.need("event_categories", c).name for c in event.category_iids]
        for flow in event.flow_ids:
            if flow in self.flows:
                fail(f"flow {flow} begins twice")
            self.flows[flow] = (time, self.goid(seq, event))
            self.counts["wakes"] += 1
            self.list.append(f"wake {time} {self.goid(seq, event)}")
        for flow in event.terminating_flow_ids:
            since, goid = self.flows.get(flow) or (0, 0)
            if not since:
                fail(f"flow {flow} ends and is not open")
            if goid != self.goid(seq, event):
                fail(f"flow {flow} leads from goroutine {goid} to {self.goid(seq, event)}")
            self.flows[flow] = None
            self.counts["flows"] += 1
            self.list.append(f"flow {since} {time} {goid}")
        self.labels(seq, event, name, time)
        if event.type == BEGIN:
            self.slices[event.track_uuid].append((time, name, categories, self.goid(seq, event)))
        elif event.type == END:
            self.end(event.track_uuid, time)
        elif event.type == STATE:
            self.state(event.track_uuid, name, time)

    def labels(self, seq, event, name, time):
        for note in event.debug_annotations:
            if note.name_iid and seq.need("debug_annotation_names", note.name_iid).name == "labels":
                labels = {entry.name: entry.string_value for entry in note.dict_entries}
                if not labels or event.type not in (BEGIN, STATE):
                    fail("labels that are none, or of no slice")
                self.list.append(f"labels {time} {name} {json.dumps(labels, ensure_ascii=False)}")

    @staticmethod
    def goid(seq, event):
        for note in event.debug_annotations:
            if seq.need("debug_annotation_names", note.name_iid).name == "goid":
                return note.uint_value
        return 0

    def end(self, track, time):
        if not self.slices[track]:
            fail(f"a slice ends on track {track}, and none is open")
        since, name, categories, goid = self.slices[track].pop()
        if time < since:
            fail("a slice ends before it begins")
        if "go.run" in categories:
            self.counts["runs"] += 1
            self.counts["run_ns"] += time - since
            self.list.append(f"run {since} {time - since} {goid}")
        if "go.thread" in categories:
            self.on[self.tracks[track].thread.tid, goid] += time - since
        if "cpu" in categories:
            self.cpus[self.tracks[track].name] += time - since
        if "os" in categories and goid:
            self.list.append(f"off {since} {time - since} {goid}")
        if "go.state" in categories and self.slices[track]:  # a state in a row
            self.add(name, time - since)
            self.list.append(f"state {since} {time - since} {self.slices[track][0][1][1:]} {name}")

    def state(self, track, name, time):
        if self.tracks[track].HasField("state") is False:
            fail(f"track {track} has states and is no state track")
        if track in self.states:
            since, before = self.states.pop(track)
            self.add(before, time - since)
            self.list.append(f"state {since} {time - since} {self.tracks[track].name.split()[-1]} {before}")
        if name:
            self.states[track] = (time, name)

    def add(self, name, ns):
        total = self.totals[name.split(":")[0]]
        total[0] += 1
        total[1] += ns

    def finish(self):
        if self.states or any(self.slices.values()):
            fail("something has no end")
        self.list += [f"on {tid} {goid} {ns}" for (tid, goid), ns in self.on.items()]
        for name in sorted(self.totals):
            print("state", name, *self.totals[name])
        print("run", self.counts["runs"], self.counts["run_ns"])
        for name in ("wakes", "flows", "samples"):
            print(name, self.counts[name])
        for name in sorted(self.cpus):
            print(name, self.cpus[name])
        print("tracks", len(self.tracks))
        for track in self.tracks.values():
            if track.HasField("process"):
                print("process", track.process.pid, track.process.process_name)


def main():
    reader = Reader()
    with open(sys.argv[1], "rb") as file:
        for packet in packets(file.read()):
            reader.take(packet)
    reader.finish()
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in sorted(reader.list)))


main()
