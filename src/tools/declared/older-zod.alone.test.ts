import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => {
  vi.doUnmock('zod');
  vi.resetModules();
});

test.each([
  ['4.0.0', () => import('zod-4-0')],
  ['4.3.6', () => import('zod-4-3')],
] as const)('zod %s converts no JSON Schema, and takes its own schemas', async (version, load) => {
  const zod = await load();
  vi.resetModules();
  vi.doMock('zod', () => zod);
  const { declaredTool } = await import('./declared-tool.ts');
  const tool = {
    name: 'shop.order',
    execute: { call: 'take' },
    writes: ['shop:orders'],
    class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
  };
  const callables = { take: () => 1 };
  const input = { type: 'object', properties: { n: { type: 'number' } } };
  expect(() => declaredTool({ ...tool, input } as never, callables as never)).toThrow(
    `The tool shop.order cannot be used: zod ${version} does not convert a JSON Schema. Use zod 4.4 or later, or give a zod schema as input.`,
  );
  expect(declaredTool({ ...tool, input: zod.z.object({ n: zod.z.number() }) } as never, callables as never).name).toBe(
    'shop.order',
  );
});
