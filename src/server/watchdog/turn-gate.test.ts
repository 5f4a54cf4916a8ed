import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TurnGate } from './turn-gate.ts';

test('a caller alone is with no other, and every caller gets in', async () => {
  const run = async (callers: readonly { readonly alone: boolean; readonly turns: number }[]): Promise<void> => {
    const gate = new TurnGate();
    const inside = new Set<object>();
    let done = 0;
    const call = async (caller: { readonly alone: boolean; readonly turns: number }): Promise<void> => {
      const leave = await (caller.alone ? gate.enterAlone() : gate.enter());
      inside.add(caller);
      for (let turn = 0; turn < caller.turns; turn += 1) {
        await Promise.resolve();
        if (caller.alone) expect(inside.size).toBe(1);
        else expect([...inside].every((each) => !(each as typeof caller).alone)).toBe(true);
      }
      inside.delete(caller);
      leave();
      done += 1;
    };
    await Promise.all(callers.map(call));
    expect(done).toBe(callers.length);
  };
  const callers = fc.array(fc.record({ alone: fc.boolean(), turns: fc.integer({ min: 1, max: 6 }) }), {
    maxLength: 12,
  });
  await fc.assert(fc.asyncProperty(callers, run));
});
