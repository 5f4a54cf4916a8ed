import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => {
  vi.doUnmock('zod');
  vi.resetModules();
});

test.each([
  ['4.0.0', () => import('zod-4-0')],
  ['4.3.6', () => import('zod-4-3')],
] as const)('with zod %s, JSON Schemas and its own schemas are taken', async (_, load) => {
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
  const declared = declaredTool({ ...tool, input } as never, callables as never);
  expect(declared.parse({ n: 1 })).toEqual({ n: 1 });
  expect(() => declared.parse({ n: '1' })).toThrow('/n must be number');
  expect(
    declaredTool(
      { ...tool, input: zod.z.object({ n: zod.z.number() }) } as never,
      callables as never,
    ).name,
  ).toBe('shop.order');
});
