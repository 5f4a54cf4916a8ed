import { z } from 'zod';
import * as kernel from '#kernel';
import { deskOf } from '../../support/ledger/desk.ts';
import { START } from '../../support/ledger/runtime.ts';
import { ANYONE } from '../../support/models/permissive-authority.ts';
import type { Case, Exempt } from './case.ts';
import { exempt, MADE, takes } from './table.ts';

const desk = deskOf();
const world = (): kernel.World => new kernel.World(desk, kernel.initialState(desk));
const intent = { action: 'add', role: { name: 'worker', params: {} }, args: { by: 1 } };
const inputs = { at: START, observations: [{ name: 'seen', value: 1 }] };
const none = exempt('no arguments');
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
  memoryScope: takes(
    (said) => kernel.memoryScope(said),
    () => [{ space: 'ward', subject: 'p7', predicate: 'drug' }],
    {},
  ),
  BUILT_IN_ROLE: exempt('no function'),
  reservedPlaces: exempt('is given a domain, and the changes that its kernel made'),
  failureIntent: exempt('is given an action of a domain, and what was committed with it'),
  'new World': exempt(MADE),
  'World.state': none,
  'World.failing': none,
  'World.isExcused': exempt(MADE),
  'World.isErasedIn': exempt(MADE),
  'World.excuse': none,
  'World.adopt': exempt(MADE),
  'World.follow': exempt(MADE),
  'World.rollback': exempt(MADE),
  'World.slice': takes((role, params) => world().slice(role, params), ['filer', { box: 'a' }]),
  'World.vector': none,
  adjudicate: takes(
    (asked, authority, given) => kernel.adjudicate(world(), asked, authority, given),
    [intent, ANYONE, inputs],
    { 1: 'a port of the runtime' },
  ),
  adjudicateHalt: takes(kernel.adjudicateHalt, [{ does: 'halt', reason: 'r', principal: 'p' }, 't', ANYONE], {
    0: MADE,
    1: MADE,
    2: 'a port of the runtime',
  }),
  adjudicateEffectDecision: exempt('the runtime checks its input; see Assize.resolveEffect'),
  adjudicateRevocation: takes(kernel.adjudicateRevocation, [{ writ: 'a'.repeat(64) }, ANYONE], {
    0: MADE,
    1: 'a port of the runtime',
  }),
  candidateOf: exempt(MADE),
  callInput: exempt(MADE),
  'World.draft': exempt(MADE),
  'new ReadSet': exempt(MADE),
  'ReadSet.overlaps': exempt(MADE),
  'ReadSet.hiddenFrom': exempt(MADE),
  'ReadSet.noElement': exempt(MADE),
  compile: takes((asked, authority) => kernel.compile(desk, asked, authority), [intent, ANYONE], {
    1: 'a port of the runtime',
  }),
  contains: exempt(MADE),
  adjudicateUpgrade: exempt('the runtime checks its input; see Trajectory.upgrade'),
  upgradeScope: exempt(MADE),
  pendingDifference: exempt('the runtime reads the proposal from an entry that verified'),
  approvePending: exempt('what waits is read by the runtime from an entry that verified; see Approvals.approve'),
  amendPending: exempt('what waits is read by the runtime from an entry that verified; see Approvals.approve'),
  amendingKind: exempt('what waits is read by the runtime from an entry that verified; see Approvals.approve'),
  calledByBody: exempt('no arguments'),
  invalidAmendment: exempt(MADE),
  refusedAmendment: exempt(MADE),
  argumentMisfits: exempt(MADE),
  marksAt: exempt(MADE),
  plannedCalls: exempt(MADE),
  counselorKind: takes(
    (channel, principal, requesters) => kernel.counselorKind(desk, channel, principal, requesters, intent),
    ['md', 'dr-who', ['agent']],
  ),
  call: takes(kernel.call as never, () => [{ name: 'a.b', class: {}, parse: () => 1 }, { n: 1 }]),
  count: takes(withRule(kernel.count), ['COUNT', '/list/*', { reads: ['/n'], ...options }, pass]),
  defineDomain: takes(kernel.defineDomain as never, () => [spec()]),
  declaredCalls: exempt(MADE),
  detailOf: exempt(MADE),
  detectionVector: exempt(MADE),
  each: takes(withRule(kernel.each), ['EACH', '/list/*', { reads: ['/n'], ...options }, pass]),
  eachCall: takes(withRule(kernel.eachCall), ['CALL', 'a.*', { reads: ['/n'], ...options }, pass]),
  eraseMemoryScope: exempt(MADE),
  eraseScope: exempt(MADE),
  escalate: takes(kernel.escalate, ['why']),
  isCounselorOf: exempt(MADE),
  isSamePrincipal: exempt(MADE),
  faultOfName: takes(kernel.faultOfName, ['dr-who']),
  hasReservedPrefix: exempt(MADE),
  beginsLike: exempt(MADE),
  firstFinding: exempt(MADE),
  heldBy: exempt(MADE),
  isOverridable: exempt('is given a rule of a domain, and its result'),
  rulesWithoutOverride: exempt('is given a domain'),
  waitingNear: exempt(MADE),
  overridesOf: exempt(MADE),
  seenOf: exempt(MADE),
  hasErased: exempt('of JSON, which its callers have copied'),
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
  keepsValues: exempt(MADE),
  offersSameActions: exempt(MADE),
  overlaps: exempt(MADE),
  unknownNames: takes(kernel.unknownNames as never, () => [
    { id: 'p', otherwise: 'deny', rules: [{ id: 'r', effect: 'allow', actions: ['add'] }] },
    { domains: [desk], tools: [] },
  ]),
  partedState: exempt(MADE),
  pass: exempt('no function'),
  patchesOf: exempt(MADE),
  parseTemplate: takes(kernel.parseTemplate, ['/spent/{agent}']),
  patternFromText: takes(kernel.patternFromText, ['/a/*/-']),
  patternText: exempt(MADE),
  plainPatches: exempt(MADE),
  statementsOf: exempt(MADE),
  reject: takes(kernel.reject, ['why']),
  roleScope: exempt(MADE),
  sensitive: takes(kernel.sensitive, [z.string()]),
  sensitiveAbove: exempt(MADE),
  stateFault: takes((state) => kernel.stateFault(desk.state, state), [desk.initial]),
  sum: takes(withRule(kernel.sum), ['SUM', '/list/*', { reads: ['/n'], ...options }, pass]),
  unique: takes(withRule(kernel.unique), ['UNIQUE', '/list/*', { by: ({ id }: any) => id, ...options }]),
};
