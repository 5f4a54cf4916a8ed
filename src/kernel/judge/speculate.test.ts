import { expect, test } from 'vitest';
import { z } from 'zod';
import { ANYONE } from '../../../tests/support/authority.ts';
import { patternText } from '../domain/footprint.ts';
import { type Domain, defineDomain, pass, reject, World } from '../index.ts';
import { adjudicate } from './adjudicate.ts';
import { foresee, foreseenFrom } from './speculate.ts';

const AT = '2026-03-23T09:00:00.000000Z';
const at = (instant = AT) => ({ at: instant, observations: [] });
const intent = (action: string, args: unknown = {}) => ({
  action,
  role: { name: 'worker', params: {} },
  args: args as never,
});

let drawn = 0;
/** Counts what its own code was run for. */
const runs = { apply: 0, rule: 0, members: 0 };

const domain: Domain = defineDomain({
  name: 'foreseen',
  version: '1',
  state: z.object({
    n: z.number(),
    at: z.string(),
    list: z.array(z.number()),
    members: z.record(z.string(), z.number()),
  }),
  initial: { n: 0, at: '', list: [1], members: {} },
  processes: {
    counting: { writes: ['/n', '/at'] },
    growing: { writes: ['/list'] },
    joining: { writes: ['/members'] },
  },
  roles: { worker: { processes: ['counting', 'growing', 'joining'] } },
  actions: {
    draw: {
      process: 'counting',
      args: z.object({ n: z.number().transform(() => ++drawn) }),
      apply: (state, { n }) => {
        runs.apply++;
        state.n = n;
      },
    },
    date: {
      process: 'counting',
      args: z.object({}),
      apply: (state, _args, context) => {
        runs.apply++;
        state.at = context.at;
      },
    },
    grow: { process: 'growing', args: z.object({}), apply: (state) => void state.list.push(2) },
    join: {
      process: 'joining',
      args: z.object({ name: z.string() }),
      apply: (state, { name }) => {
        state.members[name] = 1;
      },
    },
  },
  invariants: ({ invariant, count }) => [
    invariant('N', ['/n'], () => {
      runs.rule++;
      return pass;
    }),
    count('FEW', '/members/*', {}, (members) => {
      runs.members++;
      return members < 2 ? pass : reject('two at most');
    }),
  ],
}) as Domain;

/** The world after a proposal that was foreseen before others were committed; and how often domain code ran in its turn. */
function after(name: string, others: readonly string[], instant = AT, args: unknown = {}) {
  const world = new World(domain, structuredClone(domain.initial));
  const foreseen = foresee(domain, structuredClone(domain.initial), intent(name, args), at())!;
  const since = others.flatMap((other) => {
    const ruling = adjudicate(world, intent(other), ANYONE, at());
    if (ruling.verdict !== 'approved') throw new Error(ruling.detail);
    ruling.keep();
    return ruling.changes.map(({ keys }) => keys);
  });
  Object.assign(runs, { apply: 0, rule: 0, members: 0 });
  const ruling = adjudicate(world, intent(name, args), ANYONE, at(instant), { expected: { foreseen, since } });
  if (ruling.verdict === 'approved') ruling.keep();
  return { state: world.state as Record<string, unknown>, ruling, ran: { ...runs } };
}

test('what still holds is done without any of the domain’s code', () => {
  expect(after('date', ['grow'])).toMatchObject({ state: { at: AT, list: [1, 2] }, ran: { apply: 0, rule: 0 } });
});

test('another time is another input', () => {
  const later = '2026-03-23T10:00:00.000000Z';
  expect(after('date', [], later)).toMatchObject({ state: { at: later }, ran: { apply: 1 } });
});

test('arguments that a schema parses to something else each time are those that are recorded', () => {
  const { state, ruling } = after('draw', [], AT, { n: 0 });
  expect(ruling).toMatchObject({ verdict: 'approved', compiled: { args: { n: state['n'] } } });
});

test('rules that have something counted are judged in the turn', () => {
  expect(after('join', [], AT, { name: 'a' }).ran).toMatchObject({ members: 1 });
  expect(foreseenFrom(domain, domain.bind('joining', {})).map(patternText)).toEqual(['/members']);
  expect(foreseenFrom(domain, domain.bind('counting', {})).map(patternText)).toEqual(['/n', '/at', '/n']);
});

test('what does not compile is not foreseen, nor is what only the runtime may do', () => {
  const state = structuredClone(domain.initial);
  for (const one of [intent('fly'), intent('join', { name: 1 }), intent('assize.erase', { values: [] })])
    expect(foresee(domain, state, one, at())).toBeUndefined();
});

test('what is put together deeper than a value may be is not foreseen, and leaves nothing', () => {
  const deep = defineDomain({
    name: 'deep',
    version: '1',
    state: z.object({ tree: z.record(z.string(), z.unknown()) }),
    initial: { tree: {} },
    processes: { growing: { writes: ['/tree'] } },
    roles: { worker: { processes: ['growing'] } },
    actions: {
      grow: {
        process: 'growing',
        args: z.object({ depth: z.number() }),
        apply: ({ tree }, { depth }) => {
          let here = tree as Record<string, unknown>;
          for (let i = 0; i < depth; i++) {
            here['a'] = {};
            here = here['a'] as Record<string, unknown>;
          }
        },
      },
    },
    invariants: () => [],
  }) as Domain;
  const state = structuredClone(deep.initial);
  expect(foresee(deep, state, intent('grow', { depth: 60 }), at())).toBeDefined();
  expect(foresee(deep, state, intent('grow', { depth: 70 }), at())).toBeUndefined();
  expect(state).toEqual({ tree: {} });
});
