/** The requests of a day in the office. They use each operation of the API at least once. */
import { addMicros } from '#canon';
import { systemClock } from '#oracle';
import { RunRows } from '../../../packages/agents/src/agents/durable/run-rows.ts';
import {
  bodyOf,
  endedKey,
  FAILED_KIND,
} from '../../../packages/server/src/notices/queue/delivery-rows.ts';
import type { TestServer } from '../server/serving.ts';
import { LATER, type OfficePrincipal, UNANSWERED } from './server.ts';

/** The parts of a request that are not in its path. */
export interface Asked {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Sends a request and returns the document of its answer. `path`: the parameters of the path in
 * their order, with a slash between two.
 */
export type Ask = (as: OfficePrincipal, id: string, path?: string, asked?: Asked) => Promise<any>;

const SCOUT = 'agent:scout';
const GRACE = 'manager:grace';
const IRIS = 'auditor:iris';
const ANN = 'admin:ann';

/** `refused`: sends a request that gets a problem. */
export async function tellStory(server: TestServer, ask: Ask, refused: Ask): Promise<void> {
  await propose(ask, refused);
  const desks = await decide(ask, refused);
  await settle(ask);
  await remember(ask);
  await callTools(ask);
  await tryRules(ask);
  await inspect(ask, desks.entry_id);
  await giveAccess(server, ask, desks.request_id);
  await delegate(server, ask);
  await stopAgents(ask);
}

const buying = (order: string, item: string, cents: number) => ({
  ...{ action: 'buy', role: { name: 'buyer', params: { order } } },
  args: { item, cents },
});

const buy = (order: string, cents: number, item = order): Asked => ({
  ...{ key: `${order}-1`, body: buying(order, item, cents) },
});

async function propose(ask: Ask, refused: Ask): Promise<void> {
  await ask(GRACE, 'principals.me');
  await ask(SCOUT, 'domains.list');
  await ask(SCOUT, 'domains.get', 'purchases');
  const made = { domain: 'purchases', trajectory_id: 'warehouse', note: 'orders of the warehouse' };
  await ask(ANN, 'trajectories.create', '', { body: made });
  await ask(SCOUT, 'proposals.create', 'office', buy('paper', 4_000));
  await ask(SCOUT, 'proposals.get', 'office/paper-1');
  await ask(SCOUT, 'proposals.judge', 'office', { body: buying('sofas', 'sofas', 130_000) });
  const lamps = { key: 'lamps-1', ...buying('lamps', 'lamps', 20_000) };
  const yacht = { key: 'yacht-1', ...buying('yacht', 'yacht', 900_000) };
  await ask(SCOUT, 'proposals.create_many', 'office', { body: { proposals: [lamps, yacht] } });
  const body = { action: 'buy', role: { name: 'buyer', level: 1 } };
  await refused(SCOUT, 'proposals.create', 'office', { key: 'paper-2', body });
}

/** The ruling of the first approval. */
async function decide(ask: Ask, refused: Ask): Promise<any> {
  const desks = (await ask(SCOUT, 'proposals.create', 'office', buy('desks', 240_000))).approval_id;
  await ask(GRACE, 'approvals.list', '', { query: { mine: 'true' } });
  const { digest } = (await ask(GRACE, 'approvals.get', desks)).approval;
  const args = { item: 'desks', cents: 210_000 };
  await ask(GRACE, 'approvals.judge', desks, { body: { digest, args } });
  const other = digest.replace(/^.{8}/, '00000000');
  await refused(GRACE, 'approvals.approve', desks, { body: { digest: other } });
  const reason = 'two desks were planned';
  const approved = await ask(GRACE, 'approvals.approve', desks, { body: { digest, reason } });
  const sofas = await ask(SCOUT, 'proposals.create', 'office', buy('sofas', 130_000));
  const rejection = { body: { reason: 'not this year' } };
  await ask(GRACE, 'approvals.reject', sofas.approval_id, rejection);
  const id = (await ask(SCOUT, 'proposals.create', 'office', buy('chairs', 150_000))).approval_id;
  const chairs = (await ask(GRACE, 'approvals.get', id)).approval;
  const items = [{ id, digest: chairs.digest }];
  await ask(GRACE, 'approvals.decide', '', { body: { decision: 'approve', reason, items } });
  // Waits until the end of the day, so its reminder is sent.
  const headers = { Accept: 'application/vnd.ag-ui+json' };
  await ask(SCOUT, 'proposals.create', 'office', { ...buy('shelves', 180_000), headers });
  return approved;
}

async function settle(ask: Ask): Promise<void> {
  const ladder = buy('ladder', 9_000, UNANSWERED);
  await ask(SCOUT, 'proposals.create', 'office', ladder);
  const doubts = await ask(ANN, 'effects.list', '', { query: { needs_human: 'true' } });
  const [{ epoch, version, effects }] = doubts.transactions;
  await ask(IRIS, 'effects.get', `${epoch}`);
  await ask(ANN, 'effects.recover');
  const found = { as: 'applied', evidence: 'the invoice of the shop', version };
  await ask(ANN, 'effects.resolve', `${epoch}/${effects[0].n}`, { body: found });
}

async function approve(ask: Ask, as: OfficePrincipal, approval: string): Promise<void> {
  const { digest } = (await ask(as, 'approvals.get', approval)).approval;
  await ask(as, 'approvals.approve', approval, { body: { digest } });
}

async function remember(ask: Ask): Promise<void> {
  const said = { verb: 'assert', subject: 'mill', predicate: 'phone', object: '555-0101' };
  await ask(SCOUT, 'memory.state', 'office/suppliers', { key: 'phone-1', body: said });
  const recalled = await ask(SCOUT, 'memory.recall', 'office/suppliers', {
    body: { subject: 'mill' },
  });
  const newer = { ...said, object: '555-0102' };
  await ask(SCOUT, 'memory.state', 'office/suppliers', { key: 'phone-2', body: newer });
  await ask(IRIS, 'memory.history', 'office/suppliers');
  await ask(IRIS, 'memory.keys', 'office/suppliers');
  await ask(IRIS, 'memory.explain', `office/suppliers/${recalled.facts[0].fact_id}`);

  const space = 'suppliers';
  const content = 'The glazier has the number 555-0103.';
  const messages = [{ role: 'user', content, at: '2026-10-01' }];
  const facts = [{ message: 1, subject: 'glazier', predicate: 'phone', object: '555-0103' }];
  const noted = { space, messages, facts, metadata: { channel: 'desk' } };
  await ask(SCOUT, 'chat.remember', 'office', { key: 'chat-1', body: noted });
  const alias = { space, alias: 'the glass shop', name: 'glazier' };
  await ask(SCOUT, 'chat.alias', 'office', { body: alias });
  await ask(SCOUT, 'chat.aliases', 'office', { query: { space } });
  const question = { question: 'phone of the glass shop', spaces: [space], budget: 300 };
  const found = await ask(SCOUT, 'chat.recall', 'office', { body: question });
  await ask(SCOUT, 'chat.repair', 'office', { body: { space, fact: found.facts[0].id } });
}

async function callTools(ask: Ask): Promise<void> {
  const call = { session: 'monday', server: 'tickets', tool: 'create' };
  const lamp = { id: 'ticket-1', ...call, args: { title: 'broken lamp' } };
  await ask(SCOUT, 'calls.ask', 'calls', { body: lamp });
  await ask(GRACE, 'calls.open', 'calls');
  const done = { outcome: 'done', result: { value: { id: 7 } } };
  await ask(SCOUT, 'calls.report', 'calls/ticket-1', { body: done });
  await ask(SCOUT, 'calls.outcome', 'calls/ticket-1');
  await ask(SCOUT, 'calls.undo', 'calls/ticket-1');
  const paper = { id: 'ticket-2', ...call, args: { title: 'no paper' } };
  await ask(SCOUT, 'calls.ask', 'calls', { body: paper });
  await ask(SCOUT, 'calls.report', 'calls/ticket-2', { body: { outcome: 'unknown' } });
  const seen = { outcome: 'failed', evidence: 'The list of tickets has no such ticket.' };
  await ask(GRACE, 'calls.settle', 'calls/ticket-2', { body: seen });
  await ask(SCOUT, 'calls.undo_session', 'calls/monday');
  await ask(SCOUT, 'calls.fail_session', 'calls/monday', { body: {} });
  await ask(SCOUT, 'calls.end_session', 'calls/monday', { body: {} });
  await ask(SCOUT, 'servers.get', 'calls/tickets', { query: { agent: 'scout' } });
  const event = {
    ...{ hook_event_name: 'PreToolUse', session_id: 'tuesday', cwd: '/repo' },
    ...{ tool_name: 'Bash', tool_use_id: 'toolu_1', tool_input: { command: 'git status' } },
  };
  await ask(SCOUT, 'hooks.claude_code', 'calls', { body: event });
  await ask(SCOUT, 'hooks.codex', 'calls', { body: { ...event, session_id: 'wednesday' } });

  const expires = addMicros(systemClock.now(), 3_600_000_000);
  const limits = { tools: ['bank/pay'], uses: 2, amounts: { cents: 20_000 }, expires };
  const body = { agent: 'scout', ...limits, because: 'the invoices of May' };
  await ask(GRACE, 'standing.judge', 'calls', { body });
  const asked = await ask(SCOUT, 'standing.ask', 'calls', { key: 'may-1', body });
  await approve(ask, 'manager:henry', asked.approval_id);
  const { standing } = await ask(GRACE, 'standing.list', 'calls');
  const end = { body: { reason: 'paid by hand' } };
  await ask(GRACE, 'standing.end', `calls/${standing[0].id}`, end);
  await ask(GRACE, 'rules.list', '', { query: { trajectory: 'calls' } });
  await ask(GRACE, 'rules.report', 'calls');
}

async function tryRules(ask: Ask): Promise<void> {
  const trajectories = ['office'];
  const later = { trajectories, domain_hash: LATER.hash };
  await ask(IRIS, 'backtests.run', '', { body: later });
  await ask(IRIS, 'mining.run', '', { body: { trajectories, min_support: 1, chance: 0.5 } });
  await ask(IRIS, 'simulations.list');
  await ask(ANN, 'simulations.run', 'branch', { body: { simulation: 'one order', samples: 2 } });
}

async function inspect(ask: Ask, entry: string): Promise<void> {
  await ask(GRACE, 'trajectories.list', '', { query: { domain: 'purchases' } });
  await ask(GRACE, 'trajectories.get', 'office');
  await ask(GRACE, 'trajectories.state', 'office');
  const slice = { role: 'buyer', params: '{"order":"desks"}' };
  await ask(SCOUT, 'trajectories.slice', 'office', { query: slice });
  await ask(GRACE, 'trajectories.outline', 'office', { query: { pointer: '/orders' } });
  await ask(IRIS, 'entries.list', 'office', { query: { limit: '2' } });
  await ask(IRIS, 'entries.find', '', { query: { principal: SCOUT, ruling: 'rejected' } });
  await ask(IRIS, 'entries.get', entry, { query: { values: 'true' } });
  await ask(IRIS, 'entries.diff', '', { query: { from: 'office@0', to: 'office@1' } });
  await ask(IRIS, 'entries.dependents', entry);
  const branch = { at: 'office@1', trajectory_id: 'without-desks', note: 'a try' };
  await ask(ANN, 'branches.create', 'office', { body: branch });
  await ask(IRIS, 'branches.list', 'office');
  await ask(IRIS, 'checkpoints.create');
  await ask(IRIS, 'checkpoints.latest');
  await ask(IRIS, 'entries.proof', entry);
  await ask(IRIS, 'bundles.make', '', { query: { entry } });
  await ask(IRIS, 'reports.make', 'all', { query: { trajectory: 'office' } });
  await ask(IRIS, 'reports.page', 'all', { query: { trajectory: 'office' } });
  await ask(IRIS, 'log.export');
  await ask(IRIS, 'log.verify', '', { body: {} });
  await ask(IRIS, 'incidents.blast', '', { body: { entry } });
}

async function giveAccess(server: TestServer, ask: Ask, asked: string): Promise<void> {
  const terms = { principal: SCOUT, days: 1, note: 'the second machine' };
  const { id: token } = await ask(ANN, 'tokens.create', '', { body: terms });
  await ask(ANN, 'tokens.list', '', { query: { principal: SCOUT } });
  await ask(ANN, 'tokens.revoke', token);
  await server.cookieFor(GRACE);
  const { sessions } = await ask(ANN, 'sessions.list', '', { query: { principal: GRACE } });
  await ask(ANN, 'sessions.end', sessions[0].id);

  // No receiver fails twenty times in a minute, so the row of the failure is written.
  const { store } = server.service;
  const receiver = (await store.sideList('notice/receiver', { limit: 1 }))[0]?.key ?? '';
  const at = systemClock.now();
  const error = { code: 'receiver_refused', detail: 'The webhook answered with the status 500.' };
  const ended = { type: 'approval.requested', attempts: 20, at, receiver, error } as const;
  const body = bodyOf({ entry: asked, ...ended, shown: 'webhook chat.example.com' });
  const key = endedKey(at, (await store.logIndex(asked)) ?? 0, receiver);
  await store.sidePut([{ kind: FAILED_KIND, key, expected: null, body }]);
  const { notices } = await ask(IRIS, 'notices.failed');
  await ask(ANN, 'notices.retry', '', { body: { receiver, id: notices[0].id } });
}

async function delegate(server: TestServer, ask: Ask): Promise<void> {
  await ask(IRIS, 'writs.list', 'office');
  const guest = { subject: 'agent:guest', actions: ['buy'], seconds: 60, nonce: '1' };
  await ask(ANN, 'writs.issue', '', { body: guest });
  const helper = { subject: 'agent:scout/helper', actions: ['buy'] };
  const part = { ...helper, scopes: ['role:buyer:pens'], seconds: 60 };
  await ask(SCOUT, 'writs.attenuate', 'office', { body: part });
  const child = { task: 'compare the prices of pens', child_trajectory_id: 'pens', ...helper };
  await ask(SCOUT, 'delegations.create', 'office', { body: child });
  const { open } = await ask(IRIS, 'delegations.list', 'office');
  const answer = { body: { final_answer: { cents: 120 } } };
  await ask(SCOUT, 'delegations.conclude', `office/${open[0].id}`, answer);

  const terms = { trajectory_id: 'warehouse', agents: 'clerks', tenant: 'north', turns_max: 7 };
  await ask(ANN, 'runs.begin', '', { body: terms });
  await ask(IRIS, 'runs.get', 'warehouse');
  await ask(IRIS, 'runs.list');
  // No agents run here, so the failure is written.
  const rows = new RunRows(server.service.store, systemClock);
  const stored = await rows.find('warehouse');
  if (stored === undefined) throw new Error('There is no run.');
  await rows.replace(stored, { ...stored.run, status: 'failed', failures: 8 });
  await ask(ANN, 'runs.retry', 'warehouse');
  await ask(ANN, 'runs.cancel', 'warehouse');
}

async function stopAgents(ask: Ask): Promise<void> {
  await ask(ANN, 'trajectories.halt', 'branch', { body: { reason: 'wrong prices' } });
  await ask(ANN, 'trajectories.resume', 'branch', { body: { reason: 'prices are mended' } });
  await ask(ANN, 'trajectories.upgrade', 'branch', { body: { reason: 'version 2' } });
  await ask(ANN, 'writs.revoke', `branch/${SCOUT}`, { body: { reason: 'left the branch' } });
  const body = { reason: 'orders too much' };
  await ask(ANN, 'agents.pause', SCOUT, { body });
  await ask(ANN, 'agents.resume', SCOUT, { body });
  const leak = { key: 'leak-1', body: { principal: SCOUT, because: 'the token leaked' } };
  const { approval } = await ask(ANN, 'incidents.propose', '', leak);
  await approve(ask, GRACE, approval);
  await ask(IRIS, 'incidents.list');
  await ask(ANN, 'agents.stop', SCOUT, { body });
  await ask(IRIS, 'agents.list');
}
