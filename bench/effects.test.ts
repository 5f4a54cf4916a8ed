import { expect, test } from 'vitest';
import { KINDS, kindTools, openStage, transact } from './effects.ts';

test.each(KINDS)('the benchmark commits and settles one effect: $name', async (kind) => {
  const stage = await openStage('memory:', kindTools());
  try {
    await expect(transact(kind, 2)(stage, 0)).resolves.toBeUndefined();
  } finally {
    await stage.close();
  }
});
