import {
  digits,
  documentForm,
  entryNamed,
  flag,
  hash,
  headOf,
  name,
  next,
  type Operation,
  PAGE_DEFAULT,
  page,
  READERS,
  time,
} from '@assize/command/operation';
import { canonicalize, hashText } from 'assize/internal/canon';
import { entryView, RULINGS, summaryOf } from 'assize/internal/views';
import { z } from 'zod';
import { amountMatcher } from '../activity/amount-match.ts';
import { named, valuesOf } from '../activity/entry-facts.ts';
import { findEntries, wholeLog } from '../activity/find-entries.ts';
import { operation, type ServerService } from '../service.ts';
import { entryPage } from './reads/entry-pages.ts';

const summaryForm = z
  .looseObject({
    seq: z.number().int(),
    id: hash,
    kind: z.string(),
    at: z.string(),
    ruling: z.enum(RULINGS),
    action: z.string().optional(),
    role: z.string().optional(),
    role_params: z
      .record(z.string(), z.string())
      .readonly()
      .optional()
      .describe('absent if there are none'),
    args: z
      .string()
      .optional()
      .describe('the start of the proposed arguments; absent if they are stored apart'),
    title: z.string().optional().describe('what was asked, in words; absent as `args`'),
    reason: z.string().optional(),
    invariant_id: z.string().optional(),
    detail: z.string().optional(),
    resolves: z.string().optional().describe('the pending entry that this entry resolves'),
    counselor: z.string().optional().describe('the person who decided'),
    overrides: z
      .array(
        z.strictObject({
          principal: z.string(),
          violations: z
            .array(z.strictObject({ invariant_id: z.string(), detail: z.string().optional() }))
            .readonly(),
        }),
      )
      .readonly()
      .optional()
      .describe('the approvers that overrode rules, with these rules'),
  })
  .meta({
    id: 'EntrySummary',
    description: 'An entry in short: its action, its ruling, and the reason.',
  });

const list = operation({
  id: 'entries.list',
  method: 'get',
  path: '/v1/trajectories/{trajectory}/entries',
  summary:
    'The entries of a trajectory, oldest first. With `before`, newest first; then `next` is a `before` too.',
  kinds: READERS,
  params: z.strictObject({ trajectory: name }),
  query: z.strictObject({
    from: digits.optional().describe('the first seq'),
    before: digits.optional().describe('the seq after the last entry; turns the order round'),
    limit: page.limit,
    ruling: z.enum(RULINGS).optional(),
    text: name
      .optional()
      .describe('a part of the summary, in any case. A page may have no match, and a `next`'),
  }),
  answer: z.strictObject({ trajectory_id: z.string(), entries: z.array(summaryForm), next }),
  run: async (request) => {
    const { path, query, service } = request;
    const head = await headOf(request, path.trajectory);
    const asked = { ...query, from: query.from ?? 0, limit: query.limit ?? PAGE_DEFAULT };
    const etag = `${head.id}-${hashText(canonicalize({ ...asked }))}`;
    if (request.hasAnswer(etag)) return { etag };
    const actions = await service.actions.of(path.trajectory);
    const { entries, next } = await entryPage(service.store, head, { ...asked, actions });
    const shown = entries.map((entry) => ({ ...entry }));
    return {
      etag,
      body: {
        trajectory_id: path.trajectory,
        entries: shown,
        ...(next !== undefined && { next: String(next) }),
      },
    };
  },
});

const entryForm = z
  .looseObject({
    id: hash,
    trajectory_id: z.string(),
    seq: z.number().int(),
    parent: hash.nullable(),
    kind: z.string(),
    title: summaryForm.shape.title,
    payload: z.union([documentForm, z.string()]),
    text: z.string().describe('the stored canonical text; its hash is the id'),
    values: z
      .array(documentForm)
      .describe('large and sensitive values, by the place that refers to them'),
    trace: z
      .strictObject({ trace_id: z.string(), span_id: z.string(), url: z.string().optional() })
      .optional()
      .describe(
        'the span of OpenTelemetry that caused the entry, with its page if the server knows it',
      ),
    fault: documentForm.optional(),
  })
  .meta({ id: 'Entry' });

const get = operation({
  id: 'entries.get',
  method: 'get',
  path: '/v1/entries/{entry}',
  summary:
    'An entry with its payload, by its id or as TRAJECTORY@SEQ. `values=true` adds referenced values.',
  kinds: READERS,
  params: z.strictObject({ entry: name }),
  query: z.strictObject({ values: flag.optional() }),
  answer: entryForm,
  run: async (request) => {
    const { path, query, service } = request;
    const row = await entryNamed(request, path.entry);
    const traces = service.config.traces;
    const view = await entryView(service.store, row, { values: query.values ?? false, traces });
    const { title } = summaryOf(row, { actions: await service.actions.of(row.trajectory_id) });
    // An erasure changes the values of an entry, and not its id.
    return {
      body: { ...view, ...(title !== undefined && { title }) } as never,
      etag: `${row.id}-${hashText(JSON.stringify([view.values, title])).slice(0, 16)}`,
    };
  },
});

const foundForm = summaryForm
  .extend({
    trajectory_id: z.string(),
    by: z.array(z.string()).describe('the holder of the writ, those above it, and who decided'),
    rules: z.array(z.string()).describe('the rules that refused or asked'),
    tools: z.array(z.string()),
  })
  .meta({ id: 'FoundEntry', description: 'An entry in short, of any trajectory.' });

const find = operation({
  id: 'entries.find',
  method: 'get',
  path: '/v1/entries',
  summary: 'The entries of all trajectories, newest first, by time, name, ruling, rule or text.',
  kinds: READERS,
  query: z.strictObject({
    since: time.optional().describe('the first time'),
    until: time.optional().describe('the time after the last one'),
    principal: name.optional().describe('who asked, held a writ above, or decided'),
    decided_by: name.optional().describe('who approved, rejected, halted or settled'),
    ruling: z.enum(RULINGS).optional(),
    rule: name.optional(),
    tool: name.optional(),
    trajectory: name.optional(),
    text: name
      .optional()
      .describe('a part of the summary, in any case. A page may have no match, and a `next`'),
    amount: z
      .string()
      .regex(/^\d{1,15}(\.\d{1,6})?$/)
      .optional()
      .describe(
        'at least this amount, in any currency: `500`. Arguments that are stored apart have none',
      ),
    before: digits.optional().describe('`next` of the page before'),
    limit: page.limit,
  }),
  answer: z.strictObject({ entries: z.array(foundForm), next }),
  run: async ({ query, service }) => {
    const { since, until, text, amount, before, limit = PAGE_DEFAULT } = query;
    const names = NAMES.flatMap(([kind, member]) => {
      const value = query[member];
      return value === undefined ? [] : [named(kind, value)];
    });
    const { store, activity, actions } = service;
    const isMeant = amount === undefined ? undefined : amountMatcher(actions, amount);
    const log = await wholeLog(store);
    const search = { since, until, names, text, isMeant, before, limit };
    const found = await findEntries(log, activity, search);
    const entries = [];
    for (const { row, facts } of found.entries)
      entries.push({
        ...summaryOf(row, { actions: await actions.of(row.trajectory_id) }),
        trajectory_id: row.trajectory_id,
        by: valuesOf('by', facts.names),
        rules: valuesOf('rule', facts.names),
        tools: valuesOf('tool', facts.names),
      });
    return { body: { entries, ...(found.next !== undefined && { next: String(found.next) }) } };
  },
});

const NAMES = [
  ['by', 'principal'],
  ['decided', 'decided_by'],
  ['ruling', 'ruling'],
  ['rule', 'rule'],
  ['tool', 'tool'],
  ['in', 'trajectory'],
] as const;

export const entries: readonly Operation<ServerService>[] = [list, find, get];
