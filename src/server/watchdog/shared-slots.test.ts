import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newSlots, SlotReader, SlotWriter } from './shared-slots.ts';

const label = (key: string, name = 'n') => ({ key, trajectory: name, principal: name, action: name });
const key = fc.stringMatching(/^[0-9a-f]{64}$/);

test('the labels of what runs are read, for any begins and ends', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ key, ends: fc.nat() }), { maxLength: 300 }), (steps) => {
      const slots = newSlots();
      const [writer, reader] = [new SlotWriter(slots), new SlotReader(slots)];
      const running: { readonly key: string; readonly end: () => void }[] = [];
      for (const { key, ends } of steps) {
        if (ends % 2 === 1 && running.length > 0) running.splice(ends % running.length, 1)[0]!.end();
        else running.push({ key, end: writer.begin(label(key)) });
      }
      const expected = running.map((one) => one.key).sort();
      const found = reader.labels().map((one) => one.key);
      if (running.length <= 200) expect(found.sort()).toEqual(expected);
      else expect(expected).toEqual(expect.arrayContaining(found));
    }),
    { numRuns: 30 },
  );
});

test.each(['', 'a"\\\n', '\u{1f600}'.repeat(100), '\u0000'.repeat(500), 'é'.repeat(500), '\ud800'.repeat(90)])(
  'a name of any form is cut to a label that can be read: %j',
  (name) => {
    const slots = newSlots();
    new SlotWriter(slots).begin(label('f'.repeat(64), name));
    const [found] = new SlotReader(slots).labels();
    expect(found!.key).toBe('f'.repeat(64));
    expect(name.toWellFormed().startsWith(found!.action.replace(/\ufffd$/, ''))).toBe(true);
    expect(found!.action.isWellFormed()).toBe(true);
  },
);
