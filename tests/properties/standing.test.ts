/**
 * Standing approvals against a naive model: random approvals, calls, ends, reports and clock steps.
 * The model keeps a list of everything and counts it again for each call.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StandingLog, StandingReader, type StandingRecord, standingStatus } from '#calls';
import { callArgs, coveredCalls, gateway, readRules } from '#domains/gateway';
import { Replayer, readRow } from '#ledger';
import { Assize, type Ruling } from '#runtime';
import { cases } from '../support/cases.ts';
import { type Desk, desk, said } from '../support/domains/gateway/desk.ts';
import { operator, RECOVERY_KEY, writFor } from '../support/ledger/runtime.ts';

const RULES = `
id: standing
tools:
  bank/pay: { class: irreversible, amounts: { cents: /cents } }
  bank/refund: { class: irreversible, amounts: { cents: /cents } }
  mail/send: { class: irreversible }
rules:
  - { id: bank, ask: bank/* }
  - { id: mail, ask: mail/send }
  - { id: never, ask: bank/pay, amount: { unit: cents, min: 90 }, standing: false }
  - { id: two, ask: bank/refund, amount: { unit: cents, min: 80 }, approvals: 2 }
standing: { uses: 4, hours: 5, amounts: { cents: 200 } }
`;
const HOUR = 3_600_000;
const IDS = ['a', 'b'] as const;
const TOOLS = ['bank/pay', 'bank/refund', 'mail/send', 'new/tool'] as const;

interface Call {
  readonly agent: string;
  readonly tool: string;
  readonly cents: number;
}
interface Terms {
  readonly id: string;
  readonly agent: string;
  readonly tools: readonly string[];
  readonly uses: number;
  readonly cents: number | undefined;
  readonly hours: number;
}
type Decision = 'approve' | 'reject' | 'wait';
type Step =
  | { readonly kind: 'stand'; readonly terms: Terms; readonly decision: Decision }
  | { readonly kind: 'calls'; readonly calls: readonly Call[]; readonly decision: Decision }
  | { readonly kind: 'decide'; readonly which: number }
  | { readonly kind: 'end'; readonly id: string }
  | {
      readonly kind: 'report';
      readonly which: number;
      readonly outcome: 'done' | 'failed' | 'unknown';
    }
  | { readonly kind: 'wait'; readonly minutes: number }
  | { readonly kind: 'tidy' }
  | { readonly kind: 'list' };

const agent = fc.constantFrom('ada', 'ada', 'ben');
const id = fc.constantFrom(...IDS);
const call: fc.Arbitrary<Call> = fc.record({
  agent,
  tool: fc.constantFrom('bank/pay', 'bank/pay', ...TOOLS),
  cents: fc.constantFrom(0, 10, 50, 60, 79, 80, 89, 90),
});
const terms: fc.Arbitrary<Terms> = fc.record({
  ...{ id, agent },
  tools: fc.constantFrom(['bank/pay'], ['bank/*'], ['bank/*', 'mail/send'], ['new/*', 'bank/pay']),
  uses: fc.integer({ min: 1, max: 5 }),
  cents: fc.constantFrom(undefined, 0, 60, 120, 200, 201),
  hours: fc.constantFrom(1, 3, 5, 6),
});
const decision = fc.constantFrom<Decision>('approve', 'approve', 'approve', 'reject', 'wait');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('stand' as const), terms, decision }) },
  {
    weight: 9,
    arbitrary: fc.record({
      kind: fc.constant('calls' as const),
      calls: fc.array(call, { minLength: 1, maxLength: 2 }),
      decision,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('decide' as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('end' as const), id }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('report' as const),
      which: fc.nat(20),
      outcome: fc.constantFrom('done', 'failed', 'unknown'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      minutes: fc.constantFrom(1, 40, 100, 400),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'tidy' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'list' as const }) },
);

interface Use extends Call {
  readonly call: string;
  outcome?: string;
}
interface Standing extends Terms {
  readonly expires: number;
  readonly approvedAt: number;
  ended: boolean;
  /** Whether its id is taken: by itself, or by its uses. */
  taken: 'itself' | 'uses' | 'no';
  readonly uses_made: Use[];
}

/** Everything that was approved, in order. */
class Model {
  readonly standings: Standing[] = [];

  refusal({ id, uses, cents = 0, hours }: Terms): boolean {
    const isTaken = this.standings.some((one) => one.id === id && one.taken !== 'no');
    return isTaken || uses > 4 || cents > 200 || hours > 5;
  }

  approved(terms: Terms, askedAt: number, approvedAt: number): void {
    const expires = askedAt + terms.hours * HOUR;
    this.standings.push({
      ...terms,
      expires,
      approvedAt,
      ended: false,
      taken: 'itself',
      uses_made: [],
    });
  }

  /** The standing approval that lets a call through. */
  covering({ agent, tool, cents }: Call, at: number): Standing | undefined {
    if (
      tool === 'new/tool' ||
      (tool === 'bank/pay' && cents >= 90) ||
      (tool === 'bank/refund' && cents >= 80)
    )
      return undefined;
    const spends = tool.startsWith('bank/');
    return this.standings
      .filter(
        (one) => !one.ended && one.taken === 'itself' && one.agent === agent && at < one.expires,
      )
      .filter(({ tools }) => tools.some((each) => each === tool || (each === 'bank/*' && spends)))
      .filter(({ uses, uses_made }) => uses_made.length < uses)
      .filter((one) => !spends || (one.cents !== undefined && spentOf(one) + cents <= one.cents))
      .sort((a, b) => (a.id < b.id ? -1 : 1))[0];
  }

  end(id: string): boolean {
    const found = this.standings.find((one) => one.id === id && one.taken === 'itself');
    if (found === undefined) return false;
    found.ended = true;
    found.taken = found.uses_made.length > 0 ? 'uses' : 'no';
    return true;
  }

  tidy(at: number): void {
    for (const one of this.standings) if (one.ended || one.expires <= at) one.taken = 'no';
  }
}

function spentOf({ uses_made }: Standing): number {
  return uses_made
    .filter(({ tool }) => tool.startsWith('bank/'))
    .reduce((sum, { cents }) => sum + cents, 0);
}

/** The time that a proposal was judged at. */
function askedAt(ruling: Ruling): number {
  if (ruling.ruling === 'frozen') throw new Error('it has no entry');
  const { payload } = readRow(ruling.entry);
  return Date.parse(payload.kind === 'pending_approval' ? payload.proposal.at : payload.at);
}

function seqOf(ruling: Ruling): number {
  return ruling.ruling === 'frozen' ? -1 : ruling.entry.seq;
}

const NEEDED_TWO = ({ tool, cents }: Call): boolean => tool === 'bank/refund' && cents >= 80;

interface WaitingCall {
  readonly call: Call;
  readonly ruling: Ruling;
}
interface WaitingStanding {
  readonly terms: Terms;
  readonly ruling: Ruling;
}

/** Takes the steps, with the model beside them. */
class Play {
  readonly made: Desk;
  readonly model: Model = new Model();
  readonly reader: StandingReader;
  readonly #calls: WaitingCall[] = [];
  readonly #standings: WaitingStanding[] = [];
  #n = 0;

  constructor(made: Desk) {
    this.made = made;
    this.reader = new StandingReader(made.store, made.trajectory.id);
  }

  async take(step: Step): Promise<void> {
    const { made, model } = this;
    switch (step.kind) {
      case 'wait':
        return made.clock.forward(step.minutes * 60_000);
      case 'tidy':
        expect(said(await made.act('tidy', {}))).toBe('committed');
        return model.tidy(Date.parse(made.clock.now()));
      case 'list':
        return this.list();
      case 'end':
        return this.#end(step.id);
      case 'stand':
        return this.#stand(step.terms, step.decision);
      case 'calls':
        return this.#ask(step.calls, step.decision);
      case 'decide':
        return this.#decide(step.which);
      case 'report':
        return this.#report(step.which, step.outcome);
    }
  }

  async #end(id: string): Promise<void> {
    // The id is a member that a waiting proposal would change.
    if (this.#standings.some(({ terms }) => terms.id === id)) return;
    const ruling = await this.made.act('end_standing', { id });
    expect(ruling.ruling).toBe(this.model.end(id) ? 'committed' : 'rejected');
  }

  async #stand(terms: Terms, decision: Decision): Promise<void> {
    const { made, model } = this;
    const { id, agent, tools, uses, cents, hours } = terms;
    if (this.#standings.some((one) => one.terms.id === id)) return;
    // `act` moves the clock by a millisecond first.
    const expires = new Date(Date.parse(made.clock.now()) + 1 + hours * HOUR).toISOString();
    const amounts = cents === undefined ? {} : { cents };
    const ruling = await made.act('stand', {
      id,
      agent,
      tools,
      uses,
      amounts,
      expires,
      because: 'tested',
    });
    expect([terms, ruling.ruling]).toEqual([
      terms,
      model.refusal(terms) ? 'rejected' : 'escalated',
    ]);
    if (ruling.ruling !== 'escalated') return;
    const waiting = { terms, ruling };
    if (decision === 'wait') this.#standings.push(waiting);
    else await this.#decideStanding(waiting, decision);
  }

  async #decideStanding(
    { terms, ruling }: WaitingStanding,
    decision: 'approve' | 'reject',
  ): Promise<void> {
    const { made, model } = this;
    if (decision === 'reject') return reject(made, ruling);
    const approved = await made.approve(ruling);
    expect(said(approved)).toBe('committed');
    model.approved(terms, askedAt(ruling), askedAt(approved));
  }

  /** Two calls are asked for at the same time. */
  async #ask(calls: readonly Call[], decision: Decision): Promise<void> {
    const { made, model } = this;
    const first = this.#n;
    this.#n += calls.length;
    const rulings = await Promise.all(
      calls.map(({ agent, tool, cents }, i) => {
        const [server = '', name = ''] = tool.split('/');
        return made.act(
          'call',
          { id: `c${first + i}`, server, tool: name, args: { cents } },
          agent,
        );
      }),
    );
    const ruled = calls.map((call, i) => ({
      call,
      id: `c${first + i}`,
      ruling: rulings[i] as Ruling,
    }));
    for (const { call, id, ruling } of ruled.sort((a, b) => seqOf(a.ruling) - seqOf(b.ruling))) {
      const standing = model.covering(call, askedAt(ruling));
      expect([call, said(ruling).split(' ')[0], made.state().calls[id]?.standing]).toEqual([
        call,
        standing === undefined ? 'escalated' : 'committed',
        standing?.id,
      ]);
      standing?.uses_made.push({ ...call, call: id });
      if (standing !== undefined) continue;
      if (decision === 'wait') this.#calls.push({ call, ruling });
      else await this.#decideCall({ call, ruling }, decision);
    }
  }

  /** A person can approve a call, whatever stands by now. It uses nothing up. */
  async #decideCall({ call, ruling }: WaitingCall, decision: 'approve' | 'reject'): Promise<void> {
    const { made } = this;
    if (decision === 'reject') return reject(made, ruling);
    let now = await made.approve(ruling);
    if (NEEDED_TWO(call)) now = await made.approve(now, 'human:otto');
    expect(said(now)).toBe('committed');
  }

  async #decide(which: number): Promise<void> {
    const [call] = this.#calls.splice(which % Math.max(1, this.#calls.length), 1);
    if (call !== undefined) await this.#decideCall(call, 'approve');
    const [standing] = this.#standings.splice(which % Math.max(1, this.#standings.length), 1);
    if (standing !== undefined) await this.#decideStanding(standing, 'approve');
  }

  async #report(which: number, outcome: 'done' | 'failed' | 'unknown'): Promise<void> {
    const uses = this.model.standings.flatMap(({ uses_made }) => uses_made);
    const use = uses[which % Math.max(1, uses.length)];
    const row = use && this.made.state().calls[use.call];
    if (use === undefined || row === undefined) return;
    const ruling = await this.made.act('report', { call: use.call, outcome }, use.agent);
    if (ruling.ruling === 'committed') use.outcome = outcome;
  }

  /** The listing has each approved standing approval with its uses. */
  async list(): Promise<void> {
    const { made, model, reader } = this;
    const listed = await reader.read();
    expect(listed.map(shown)).toEqual(model.standings.map(expected));
    expect(await new StandingReader(made.store, made.trajectory.id).read()).toEqual(listed);
    const now = made.clock.now();
    expect(listed.map((one) => standingStatus(one, now))).toEqual(
      model.standings.map((one) => statusOf(one, Date.parse(now))),
    );
  }
}

function shown({ id, terms, approvedBy, ended, calls }: StandingRecord): object {
  return {
    ...{ id, approvedBy, ended: ended !== undefined },
    terms: terms && { ...terms, expires: Date.parse(terms.expires) },
    calls: calls.map(({ call, tool, amounts, outcome, args }) => ({
      call,
      tool,
      amounts,
      outcome,
      args,
    })),
  };
}

function expected({ id, agent, tools, uses, cents, expires, ended, uses_made }: Standing): object {
  const amounts = cents === undefined ? {} : { cents };
  return {
    ...{ id, approvedBy: 'human:grace', ended },
    terms: { agent, tools, uses, amounts, because: 'tested', expires },
    calls: uses_made.map(({ call, tool, cents, outcome }) => ({
      ...{ call, tool, outcome, args: { cents } },
      amounts: tool.startsWith('bank/') ? { cents } : {},
    })),
  };
}

function statusOf({ ended, expires, uses, uses_made }: Standing, now: number): string {
  if (ended) return 'ended';
  if (expires <= now) return 'expired';
  return uses_made.length === uses ? 'used_up' : 'active';
}

async function reject(made: Desk, ruling: Ruling): Promise<void> {
  if (ruling.ruling !== 'escalated') throw new Error(said(ruling));
  await made.trajectory.approvals.reject(ruling.pending, {
    principal: 'human:grace',
    method: 'test',
    reason: 'no',
  });
}

test('standing approvals cover what a naive model lets through', { timeout: 300_000 }, () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }),
      async (steps) => {
        const play = new Play(await desk(RULES));
        for (const one of steps) await play.take(one);
        await play.list();
      },
    ),
    { numRuns: cases(150) },
  ),
);

test('the foreseen uses are those of the model', { timeout: 300_000 }, () =>
  fc.assert(
    fc.asyncProperty(
      terms,
      fc.array(call, { maxLength: 12, size: 'max' }),
      async (terms, asked) => {
        const made = await desk(RULES);
        const model = new Model();
        const at = made.clock.now();
        model.approved(terms, Date.parse(at), Date.parse(at));
        const calls = asked.filter(({ agent }) => agent === terms.agent);
        const { agent, tools, uses, cents } = terms;
        const end = new Date(Date.parse(at) + HOUR).toISOString();
        const amounts = cents === undefined ? {} : { cents };
        const given = calls.map(({ tool, cents }) => {
          const [server, name] = tool.split('/');
          return callArgs.parse({ server, tool: name, args: { cents } });
        });
        const before = made.state();
        // Terms above the maximum of the rules cover nothing.
        const isAllowed = uses <= 4 && (cents ?? 0) <= 200;
        const foreseen = coveredCalls(
          before,
          { agent, tools: [...tools], uses, amounts, expires: end },
          given,
          at,
        );
        const covered = calls.map((call) => {
          const standing = isAllowed ? model.covering(call, Date.parse(at)) : undefined;
          standing?.uses_made.push({ ...call, call: '' });
          return standing !== undefined;
        });
        expect(foreseen.map((one) => one.covered)).toEqual(covered);
        expect(made.state()).toEqual(before);
      },
    ),
    { numRuns: cases(150) },
  ),
);

test('two callers meet at the last use: one is let through', async () => {
  const made = await desk(RULES);
  const terms = {
    id: 'a',
    agent: 'ada',
    tools: ['bank/*'],
    uses: 1,
    amounts: { cents: 200 },
    because: 'tested',
  };
  const expires = new Date(Date.parse(made.clock.now()) + HOUR).toISOString();
  await made.approve(await made.act('stand', { ...terms, expires }));
  const other = new Assize({
    store: made.store,
    domains: [gateway({ rules: readRules(RULES).rules })],
    ...{ anchors: [operator.publicKey], oracle: made.store, ports: { clock: made.clock } },
    ...{ maxClockAheadMs: 'unlimited', effects: { recoveryKey: RECOVERY_KEY } },
  });
  const there = await other.open(made.trajectory.id);
  const content = { server: 'bank', tool: 'pay', args: { cents: 10 } };
  const asked = ['d1', 'd2', 'd3'].map((id) => ({
    ...{ action: 'call', role: { name: 'agent', params: { agent: 'ada' } } as never },
    ...{ args: { ...content, id }, writ: writFor('agent:ada') },
  }));
  const rulings = await Promise.all([
    ...Array.from({ length: 3 }, () => made.call('ada', 'bank/pay', { cents: 10 })),
    ...asked.map((one) => there.propose(one)),
  ]);
  expect(rulings.map(({ ruling }) => ruling).sort()).toEqual([
    'committed',
    ...Array(5).fill('escalated'),
  ]);
});

test('a branch lists the standing approvals of its source', async () => {
  const made = await desk(RULES);
  const terms = {
    id: 'a',
    agent: 'ada',
    tools: ['bank/*'],
    uses: 3,
    amounts: { cents: 200 },
    because: 'tested',
  };
  const expires = new Date(Date.parse(made.clock.now()) + HOUR).toISOString();
  await made.approve(await made.act('stand', { ...terms, expires }));
  const before = await made.call('ada', 'bank/pay', { cents: 10 });
  if (before.ruling !== 'committed') throw new Error(said(before));
  const branch = await made.assize.branch(made.trajectory.id, before.entry.id, {
    note: 'a branch',
  } as never);
  const [listed] = await new StandingReader(made.store, branch.id).read();
  const [own] = await new StandingReader(made.store, made.trajectory.id).read();
  expect(listed).toMatchObject({
    id: 'a',
    terms: own?.terms,
    approvedBy: 'human:grace',
    approvedAt: own?.approvedAt,
  });
  expect(listed?.calls).toMatchObject([{ call: 'c1', tool: 'bank/pay', amounts: { cents: 10 } }]);
  const role = { name: 'agent', params: { agent: 'ada' } } as never;
  const report = {
    action: 'report',
    role,
    args: { call: 'c1', outcome: 'done' },
    writ: writFor('agent:ada'),
  };
  expect(said(await branch.propose(report))).toBe('committed');
  const [reported] = await new StandingReader(made.store, branch.id).read();
  expect(reported?.calls).toMatchObject([{ call: 'c1', outcome: 'done' }]);
});

test('a standing approval leaves the calls that wait to a person', async () => {
  const made = await desk(RULES);
  const waits = await made.call('ada', 'bank/pay', { cents: 10 });
  const terms = {
    id: 'a',
    agent: 'ada',
    tools: ['bank/*'],
    uses: 3,
    amounts: { cents: 200 },
    because: 'tested',
  };
  const expires = new Date(Date.parse(made.clock.now()) + HOUR).toISOString();
  const asked = await made.act('stand', { ...terms, expires });
  expect(said(await made.approve(asked))).toBe('committed');
  expect(said(await made.approve(waits))).toBe('committed');
  expect(made.state().spent).toEqual({});
  expect(said(await made.call('ada', 'bank/pay', { cents: 10 }))).toBe('committed');
  expect(Object.keys(made.state().spent)).toEqual(['a|c2']);
});

test('the listing of a long trajectory is that of a walk over all entries', {
  timeout: 120_000,
}, async () => {
  const made = await desk(`${RULES.replace('mail/send }', 'mail/none }')}\ndefault: allow`);
  const terms = {
    id: 'a',
    agent: 'ada',
    tools: ['bank/*'],
    uses: 3,
    amounts: { cents: 200 },
    because: 'tested',
  };
  const reader = new StandingReader(made.store, made.trajectory.id);
  const expires = new Date(Date.parse(made.clock.now()) + HOUR).toISOString();
  await made.approve(await made.act('stand', { ...terms, expires }));
  // More entries than one page, and distances around the gap that is read over.
  for (const others of [0, 49, 52, 560]) {
    for (let n = 0; n < others; n++)
      expect(said(await made.call('ben', 'mail/send'))).toBe('committed');
    const ruling = await made.call('ada', 'bank/pay', { cents: 10 });
    await made.act('report', { call: 'c1', outcome: others === 560 ? 'failed' : 'unknown' }, 'ada');
    expect(ruling.ruling).toBe(others === 560 ? 'escalated' : 'committed');
    const log = new StandingLog(new Replayer(made.store).values);
    const rows = await made.store.entries(made.trajectory.id, { from: 0, limit: 10_000 });
    for (const row of rows) await log.add(readRow(row));
    expect(await reader.read()).toEqual(log.records);
  }
  const [listed] = await reader.read();
  expect(listed?.calls.map(({ outcome }) => outcome)).toEqual(['failed', undefined, undefined]);
});
