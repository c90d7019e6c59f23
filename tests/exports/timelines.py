"""Checks of timelines that know nothing of how they were written: slices nest, parents exist, times rise."""

import collections
import json
import pathlib
import re
import subprocess

SCHEMA = pathlib.Path(__file__).resolve().parent / 'perfetto.proto'


class Wrong(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Wrong(what)


# A call, a signal, a fork: `duration` is None for what is an instant, and for a call that never returned.
Event = collections.namedtuple('Event', 'track start duration name categories arguments is_slice')


class Timeline:
    def __init__(self):
        self.tracks = {}  # key: (kind, pid, tid, parent)
        self.names = collections.defaultdict(list)  # of a track, in their order
        self.events = []
        self.counters = collections.defaultdict(list)  # (track, name): [(time, value)]
        self.flows = ([], [])  # started, ended

    def calls(self):
        return [event for event in self.events if {'syscall', 'library'} & set(event.categories)]

    def check(self):
        for event in self.events:
            expect(event.track in self.tracks, f'no such track: {event}')
            expect(event.start >= 0 and (event.duration is None or event.duration >= 0), f'a time falls: {event}')
        for key, (kind, _, _, parent) in self.tracks.items():
            expect(kind == 'process' or parent in self.tracks, f'track {key} has no parent')
        by_track = collections.defaultdict(list)
        for event in self.events:
            if event.is_slice:
                by_track[event.track].append(event)
        for events in by_track.values():
            open_ = []
            for event in sorted(events, key=lambda one: (one.start, -(one.duration if one.duration is not None else 1 << 62))):
                while open_ and open_[-1] is not None and open_[-1] <= event.start:
                    open_.pop()
                end = None if event.duration is None else event.start + event.duration
                if open_ and open_[-1] is not None:
                    expect(end is not None and end <= open_[-1], f'it does not nest: {event}')
                open_.append(end)
        for samples in self.counters.values():
            expect(samples == sorted(samples, key=lambda one: one[0]), 'a counter goes back in time')
            expect(all(value >= 0 for _, value in samples), 'a counter is negative')
        started, ended = self.flows
        expect(set(ended) <= set(started) and len(set(ended)) == len(ended), 'a flow ends that has not begun')

    def totals(self):
        """{name: [calls, failed, nanoseconds]} of the calls that returned."""
        totals = collections.defaultdict(lambda: [0, 0, 0])
        for call in self.calls():
            if 'unfinished' not in call.arguments:
                total = totals[call.name]
                total[0] += 1
                total[1] += 'errno' in call.arguments
                total[2] += call.duration
        return dict(totals)


def read_chrome(text):
    timeline = Timeline()
    for event in json.loads(text):
        if event['ph'] == 'M':
            if event['name'] in ('process_name', 'thread_name'):
                kind = event['name'].split('_')[0]
                key = event['pid'] if kind == 'process' else (event['pid'], event['tid'])
                timeline.tracks[key] = (kind, event['pid'], event['tid'], event['pid'])
                timeline.names[key].append(event['args']['name'])
            continue
        expect(event['ph'] in 'Xi', f'phase {event["ph"]}')
        start = round(event['ts'] * 1000)
        arguments = event.get('args', {})
        key = (event['pid'], event['tid'])
        if event.get('s') == 'p':
            key = event['pid']
        timeline.events.append(Event(key, start, round(event['dur'] * 1000) if event['ph'] == 'X' else None, event['name'],
                                     event['cat'].split(','), arguments, event['ph'] == 'X'))
    return timeline


ESCAPES = {'n': b'\n', 'r': b'\r', 't': b'\t', '"': b'"', "'": b"'", '\\': b'\\'}


def unescaped(text):
    whole = re.sub(rb'\\([0-7]{3}|.)', lambda m: ESCAPES.get(m[1].decode()) or bytes([int(m[1], 8)]), text.encode())
    return whole.decode()  # UTF-8, or it is no string of a protocol buffer


def messages(lines):
    """The text form of protoc as nested dictionaries of lists."""
    result = collections.defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == '}':
            return result
        if line.endswith(' {'):
            expect(not line[0].isdigit(), f'unknown field: {line}')
            result[line[:-2]].append(messages(lines))
            continue
        name, _, value = line.partition(': ')
        expect(not name[0].isdigit(), f'unknown field: {line}')
        result[name].append(unescaped(value[1:-1]) if value.startswith('"') else value)
    return result


def value_of(annotation):
    if annotation['dict_entries']:
        return {entry['name'][0]: value_of(entry) for entry in annotation['dict_entries']}
    if annotation['array_values']:
        return [value_of(element) for element in annotation['array_values']]
    if annotation['int_value']:
        return int(annotation['int_value'][0])
    for name in ('string_value', 'pointer_value', 'double_value', 'bool_value'):
        if annotation[name]:
            return annotation[name][0]
    return []


def read_perfetto(protoc, path):
    with open(path, 'rb') as file:
        decoded = subprocess.run([protoc, '--decode=Trace', f'-I{SCHEMA.parent}', SCHEMA.name], stdin=file, capture_output=True, timeout=120)
    expect(decoded.returncode == 0, decoded.stderr[-300:])
    trace = messages(iter(decoded.stdout.decode().splitlines()))
    timeline = Timeline()
    interned = {'event_names': {}, 'event_categories': {}, 'debug_annotation_names': {}}
    open_ = collections.defaultdict(list)
    pending = []
    for number, packet in enumerate(trace['packet']):
        expect(packet['trusted_packet_sequence_id'] == ['1'], 'a packet of no sequence')
        expect(packet['sequence_flags'] == (['1'] if number == 0 else ['2']), f'flags {packet["sequence_flags"]}')
        if number == 0:
            expect(packet['trace_packet_defaults'][0]['timestamp_clock_id'] == ['64'], 'no clock')
            clocks = {clock['clock_id'][0]: int(clock['timestamp'][0]) for clock in packet['clock_snapshot'][0]['clocks']}
            expect(clocks['64'] == 0 and clocks['6'] > 0 and clocks['1'] > 10**18, f'clocks {clocks}')
        for data in packet['interned_data']:
            for kind, known in interned.items():
                for entry in data[kind]:
                    expect(entry['iid'][0] not in known and entry['iid'][0] != '0', f'{kind} {entry["iid"]} twice')
                    known[entry['iid'][0]] = entry['name'][0] if entry['name'] else ''
        for descriptor in packet['track_descriptor']:
            uuid = descriptor['uuid'][0]
            if descriptor['process']:
                track = ('process', int(descriptor['process'][0]['pid'][0]), None, None)
                timeline.names[uuid].append((descriptor['process'][0]['process_name'] or [''])[0])
            elif descriptor['thread']:
                thread = descriptor['thread'][0]
                track = ('thread', int(thread['pid'][0]), int(thread['tid'][0]), descriptor['parent_uuid'][0])
                timeline.names[uuid].append((thread['thread_name'] or [''])[0])
            else:
                track = ('counter', None, None, descriptor['parent_uuid'][0])
                timeline.names[uuid].append(descriptor['name'][0])
            expect(timeline.tracks.setdefault(uuid, track) == track, f'track {uuid} is two')
        for event in packet['track_event']:
            pending.append((int((packet['timestamp'] or ['0'])[0]), len(pending), event))
    for time, _, event in sorted(pending, key=lambda one: one[:2]):  # as every reader does
        track = event['track_uuid'][0]
        kind = event['type'][0]
        categories = [interned['event_categories'][iid] for iid in event['category_iids']]
        if kind == 'TYPE_COUNTER':
            timeline.counters[track].append((time, int(event['counter_value'][0])))
            expect(timeline.tracks[track][0] == 'counter', 'a sample on no counter')
            continue
        if kind == 'TYPE_SLICE_END':
            expect(open_[track], f'an end without a begin at {time}')
            start, name, cats, arguments = open_[track].pop()
            timeline.events.append(Event(track, start, time - start, name, cats, arguments, True))
            continue
        name = interned['event_names'][event['name_iid'][0]] if event['name_iid'] else event['name'][0]
        arguments = {interned['debug_annotation_names'][one['name_iid'][0]] if one['name_iid'] else one['name'][0]: value_of(one)
                     for one in event['debug_annotations']}
        timeline.flows[0].extend(event['flow_ids'])
        timeline.flows[1].extend(event['terminating_flow_ids'])
        if kind == 'TYPE_SLICE_BEGIN':
            open_[track].append((time, name, categories, arguments))
        else:
            timeline.events.append(Event(track, time, None, name, categories, arguments, False))
    for track, slices in open_.items():
        expect(len(slices) <= 1, 'several calls of a thread have no end')
        for start, name, categories, arguments in slices:
            expect('unfinished' in arguments, f'{name} has no end')
            timeline.events.append(Event(track, start, None, name, categories, arguments, True))
    return timeline
