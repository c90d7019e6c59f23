"""Reads the data of a report of --format=html, as report.js does."""

import base64
import gzip
import json
import re

SIGNED = {'start'}  # differences from the number before


def numbers(data, signed=False):
    result, value, scale, before = [], 0, 0, 0
    for byte in data:
        value |= (byte & 127) << scale
        scale += 7
        if byte < 128:
            if signed:
                before += -(value + 1) // 2 if value & 1 else value // 2
                value = before
            result.append(value)
            value = scale = 0
    return result


class Report:
    def __init__(self, path):
        self.page = path.read_text()  # it is UTF-8
        data = re.search(r'<script type="text/plain" id="data">([A-Za-z0-9+/]*={0,2})</script>', self.page)
        unpacked = gzip.decompress(base64.b64decode(data.group(1), validate=True))
        size = int.from_bytes(unpacked[:4], 'little')
        self.head = json.loads(unpacked[4:4 + size])
        at = 4 + size
        self.columns = {}
        for name, length in self.head['columns']:
            self.columns[name] = unpacked[at:at + length]
            at += length
        assert at == len(unpacked), f'{len(unpacked) - at} bytes are left'
        texts = self.columns.pop('texts')
        lengths = numbers(self.columns.pop('lengths'))
        self.columns = {name: numbers(data, name in SIGNED) for name, data in self.columns.items()}
        self.arguments, at = [], 0
        for length in lengths:
            self.arguments.append(texts[at:at + length].decode())
            at += length
        assert at == len(texts), f'{len(texts) - at} bytes of arguments are left'

    def rows(self):
        names = list(self.columns)
        for values in zip(*self.columns.values(), strict=True):
            row = dict(zip(names, values))
            for name in ('name', 'error', 'object'):
                row[name] = self.head['strings'][row[name]]
            row['arguments'] = json.loads(self.arguments[row['arguments']]) if row['arguments'] else None
            yield row
