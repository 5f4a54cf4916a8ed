import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { World } from '#kernel';
import { defineDomain } from './domain/define-domain.ts';
import { adjudicate } from './judge/adjudicate.ts';

// The container above a footprint may not exist yet. The writer creates the containers that lead
// there, and nothing else.

const entry = z.object({ at: z.number() });
const ANYONE = {
  admits: () => ({ ok: true, needsApproval: false }),
  decides: () => undefined,
  affords: () => ({ ok: true }),
};

interface Desk {
  queue: { [team: string]: { [who: string]: { [id: string]: { at: number } } } };
  log: { [team: string]: { lines?: number[]; count?: number } };
}

function outcomeOf(state: Desk, apply: (state: any) => void): unknown {
  const domain = defineDomain<any, any>({
    name: 'desk',
    version: '1',
    state: z.object({
      queue: z.record(z.string(), z.record(z.string(), z.record(z.string(), entry))),
      log: z.record(
        z.string(),
        z.object({ lines: z.array(z.number()).optional(), count: z.number().optional() }),
      ),
    }),
    processes: { file: { writes: ['/queue/{team}/{who}/{id}', '/log/{team}/lines/-'] } },
    roles: { clerk: { params: ['team', 'who', 'id'], processes: ['file'] } },
    actions: { act: { process: 'file', args: z.null(), apply } },
    invariants: [],
  });
  const world = new World(domain, structuredClone(state) as never);
  const role = { name: 'clerk', params: { team: 'red', who: 'ada', id: '1' } };
  const ruling = adjudicate(world, { action: 'act', role, args: null }, ANYONE as never, {
    at: '2026-03-23T09:00:00.000000Z',
    observations: [],
  });
  if (ruling.verdict !== 'approved') {
    expect(world.state).toEqual(state);
    return (ruling as { reason: string }).reason;
  }
  const patches = ruling.patches();
  ruling.keep();
  return patches;
}

const EMPTY: Desk = { queue: {}, log: {} };

describe('where nothing is', () => {
  test.each<[string, Desk, (state: any) => void, unknown]>([
    [
      'step by step',
      EMPTY,
      (state) => {
        state.queue.red ??= {};
        state.queue.red.ada ??= {};
        state.queue.red.ada['1'] = { at: 1 };
      },
      [{ op: 'add', path: '/queue/red', value: { ada: { 1: { at: 1 } } } }],
    ],
    [
      'in one statement',
      EMPTY,
      (state) => (state.queue.red = { ada: { 1: { at: 1 } } }),
      [{ op: 'add', path: '/queue/red', value: { ada: { 1: { at: 1 } } } }],
    ],
    [
      'below what is there',
      { queue: { red: { bob: {} } }, log: {} },
      (state) => {
        state.queue.red.ada ??= {};
        state.queue.red.ada['1'] = { at: 1 };
      },
      [{ op: 'add', path: '/queue/red/ada', value: { 1: { at: 1 } } }],
    ],
    [
      'empty',
      EMPTY,
      (state) => (state.queue.red = {}),
      [{ op: 'add', path: '/queue/red', value: {} }],
    ],
    [
      'above a list that may only grow',
      EMPTY,
      (state) => (state.log.red = { lines: [1, 2] }),
      [{ op: 'add', path: '/log/red', value: { lines: [1, 2] } }],
    ],
  ])('the path to the footprint is created, %s', (_, state, apply, patches) => {
    expect(outcomeOf(state, apply)).toEqual(patches);
  });

  test.each<[string, (state: any) => void]>([
    ['beside it', (state) => (state.queue.blue = {})],
    [
      'with something in it that is not the footprint’s',
      (state) => (state.queue.red = { ada: {}, bob: {} }),
    ],
    ['with something else beside the list', (state) => (state.log.red = { lines: [1], count: 1 })],
    ['as a list', (state) => (state.queue.red = [])],
    ['as a value', (state) => (state.queue.red = null)],
  ])('and nothing is created %s', (_, apply) => {
    expect(outcomeOf(EMPTY, apply)).toBe('invalid_authority');
  });

  const there: Desk = { queue: { red: { bob: { 2: { at: 1 } } } }, log: { red: { count: 1 } } };
  test.each<[string, (state: any) => void]>([
    ['replaced by the same that is empty', (state) => (state.queue.red = {})],
    ['replaced by what leads to the footprint', (state) => (state.queue.red = { ada: {} })],
    ['taken away', (state) => delete state.queue.red],
  ])('an existing value is not %s', (_, apply) => {
    expect(outcomeOf(there, apply)).toBe('invalid_authority');
  });
});
