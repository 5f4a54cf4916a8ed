import { z } from 'zod';
import * as kernel from '#kernel';
import { deskOf } from '../../support/ledger/desk.ts';
import type { Case, Exempt } from './case.ts';
import { exempt, MADE, takes } from './table.ts';

const desk = deskOf();
const world = (): kernel.World => new kernel.World(desk, kernel.initialState(desk));
const pass = (): kernel.InvariantResult => kernel.pass;
const options = { channel: 'md', approvals: 1 };

const spec = (): object => ({
  name: 'ward',
  version: '1',
  freeze: 'world',
  build: 'b',
  state: z.object({ n: z.number(), list: z.array(z.object({ id: z.string(), n: z.number() })) }),
  initial: { n: 0, list: [] },
  processes: { work: { reads: ['/list'], writes: ['/n'] } },
  roles: { worker: { params: ['p'], processes: ['work'], sees: ['/n', '/list'] } },
  actions: {
    add: {
      process: 'work',
      args: z.object({ by: z.number() }),
      description: 'd',
      channel: 'md',
      approvals: 1,
      apply: () => {},
    },
  },
  invariants: [
    kernel.invariant('PLAIN', ['/n'], pass, { ...options, index: { few: { path: '/list/*' } } }),
    kernel.each('EACH', '/list/*', { reads: ['/n'], ...options }, pass),
    kernel.unique('UNIQUE', '/list/*', { by: ({ id }) => id, ...options }),
    kernel.sum('SUM', '/list/*', { of: ({ n }) => n, reads: ['/n'], ...options }, pass),
    kernel.count('COUNT', '/list/*', { where: () => true, ...options }, pass),
  ],
  counselors: { md: () => true },
});

/** A domain with another rule: the domain is the part that refuses a rule. */
const withRule =
  (make: (...args: any[]) => any) =>
  (...args: any[]) =>
    kernel.defineDomain({ ...spec(), invariants: [make(...args)] } as never);

export const KERNEL: Readonly<Record<string, Case | Exempt>> = {
  'World.slice': takes((role, params) => world().slice(role, params), ['filer', { box: 'a' }]),
  call: takes(kernel.call as never, () => [{ name: 'a.b', class: {}, parse: () => 1 }, { n: 1 }]),
  count: takes(withRule(kernel.count), ['COUNT', '/list/*', { reads: ['/n'], ...options }, pass]),
  defineDomain: takes(kernel.defineDomain as never, () => [spec()]),
  detectionVector: exempt(MADE),
  each: takes(withRule(kernel.each), ['EACH', '/list/*', { reads: ['/n'], ...options }, pass]),
  eachCall: takes(withRule(kernel.eachCall), ['CALL', 'a.*', { reads: ['/n'], ...options }, pass]),
  escalate: takes(kernel.escalate, ['why']),
  faultOfName: takes(kernel.faultOfName, ['dr-who']),
  requireOwnDomain: takes((domain) => kernel.requireOwnDomain(domain as never), [desk]),
  initialState: takes((given) => kernel.initialState(desk, given), [desk.initial]),
  givenState: takes((given) => kernel.givenState(desk, given), [desk.initial]),
  invariant: takes(withRule(kernel.invariant), [
    'PLAIN',
    ['/n'],
    pass,
    { ...options, index: { few: { path: '/list/*' } } },
  ]),
  isErased: takes(kernel.isErased, [{ $erased: 'a'.repeat(64) }]),
  unknownNames: takes(kernel.unknownNames as never, () => [
    { id: 'p', otherwise: 'deny', rules: [{ id: 'r', effect: 'allow', actions: ['add'] }] },
    { domains: [desk], tools: [] },
  ]),
  parseTemplate: takes(kernel.parseTemplate, ['/spent/{agent}']),
  patternFromText: takes(kernel.patternFromText, ['/a/*/-']),
  reject: takes(kernel.reject, ['why']),
  sensitive: takes(kernel.sensitive, [z.string()]),
  stateFault: takes((state) => kernel.stateFault(desk.state, state), [desk.initial]),
  sum: takes(withRule(kernel.sum), ['SUM', '/list/*', { reads: ['/n'], ...options }, pass]),
  unique: takes(withRule(kernel.unique), [
    'UNIQUE',
    '/list/*',
    { by: ({ id }: any) => id, ...options },
  ]),
};
