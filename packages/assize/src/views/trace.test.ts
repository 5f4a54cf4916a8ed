import { expect, test } from 'vitest';
import type { Payload } from '#ledger';
import { traceOf } from './trace.ts';

const value = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const ids = { trace_id: '0af7651916cd43dd8448eb211c80319c', span_id: 'b7ad6b7169203331' };

function entry(observations: readonly object[]): Payload {
  return { kind: 'commit', observations } as unknown as Payload;
}

const traced = entry([
  { name: 'letter', value: 'x' },
  { name: 'assize.traceparent', value },
]);

test.each([
  ['no address', undefined, ids],
  [
    'an address',
    'https://t.example/{traceId}?span={spanId}',
    { ...ids, url: `https://t.example/${ids.trace_id}?span=${ids.span_id}` },
  ],
  ['an address that a browser must not open', 'javascript:{traceId}', ids],
])('the trace of an entry with %s', (_, address, shown) => {
  expect(traceOf(traced, address)).toEqual(shown);
});

test('an entry without a trace has none, and a malformed one is not shown', () => {
  expect(traceOf(entry([]), 'https://t.example/{traceId}')).toBeUndefined();
  expect(
    traceOf(entry([{ name: 'assize.traceparent', value: 'secret' }]), undefined),
  ).toBeUndefined();
});
