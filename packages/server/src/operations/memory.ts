import {
  ANYBODY,
  agentWrit,
  badCursor,
  callerTrajectory,
  factForm,
  hash,
  instant,
  isOfKind,
  json,
  name,
  next,
  type Operation,
  PAGE_DEFAULT,
  page,
  READERS,
  type Request,
  rulingForm,
  ServerError,
} from '@assize/command/operation';
import { segment } from 'assize/internal/authority';
import { BELIEVE_ACTION, STATEMENT_METADATA } from 'assize/internal/kernel';
import { type Memory, type RecallQuery, Trajectory } from 'assize/internal/runtime';
import { rulingView } from 'assize/internal/views';
import { z } from 'zod';
import { operation, type ServerService } from '../service.ts';

const place = z.strictObject({ trajectory: name, space: name });
const period = z.strictObject({ from: instant, to: instant });
const said = { subject: name, predicate: name, object: z.string().min(1).max(65_536) };
const sourced = {
  confidence: z.number().min(0).max(1).optional(),
  source: name.optional(),
  metadata: STATEMENT_METADATA.optional(),
};

const statement = z
  .discriminatedUnion('verb', [
    z.strictObject({
      verb: z.literal('assert'),
      ...said,
      ...sourced,
      valid: period.partial().optional(),
    }),
    z.strictObject({ verb: z.literal('change'), ...said, ...sourced, from: instant.optional() }),
    z.strictObject({
      verb: z.literal('correct'),
      ...said,
      ...sourced,
      valid: period,
      was: z.string().optional(),
    }),
    z.strictObject({
      verb: z.literal('retract'),
      subject: name,
      predicate: name,
      valid: period,
      object: z.string().optional(),
    }),
  ])
  .meta({ id: 'Statement' });

const assert = operation({
  id: 'memory.state',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/memory/{space}/statements',
  summary: 'State a fact: assert, change, correct or retract it.',
  kinds: ['agent'],
  params: place,
  body: statement,
  needsKey: true,
  isRouted: true,
  answer: rulingForm,
  statuses: [200, 202],
  errors: ['unknown_predicate', 'idempotency_conflict', 'conflict'],
  run: async (request) => {
    const { body, key } = request;
    const memory = await memoryOf(request);
    const { verb, ...given } = body as {
      readonly verb: 'assert' | 'change' | 'correct' | 'retract';
    };
    const ruling = await memory[verb](given as never, { idempotencyKey: key });
    if (ruling.ruling !== 'escalated') return { body: rulingView(ruling) };
    return {
      status: 202,
      headers: { location: `/v1/approvals/${ruling.pending}` },
      body: rulingView(ruling),
    };
  },
});

const recallQuery = z
  .strictObject({
    subject: name.optional(),
    predicate: name.optional(),
    valid: instant.optional().describe('an instant, or `any`; default: now'),
    system: instant.optional().describe('an instant, or `any`; default: now'),
    kind: z.enum(['current', 'audit', 'all']).optional(),
    text: z.string().min(1).max(4_096).optional(),
    by: z.enum(['text', 'embedding', 'hybrid']).optional(),
    nearby: z.boolean().optional(),
    limit: z.number().int().min(1).max(10_000).optional(),
  })
  .meta({ id: 'RecallQuery' });

const scoreForm = z
  .looseObject({ score: z.number(), text: z.number().optional(), embedding: z.number().optional() })
  .meta({
    id: 'Score',
    description: 'The score of a fact for a text, by which the facts are sorted.',
  });

const recall = operation({
  id: 'memory.recall',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/memory/{space}/recall',
  summary: 'Recall facts as of any valid time and any system time, also by text.',
  kinds: ANYBODY,
  params: place,
  body: recallQuery,
  answer: z.strictObject({
    facts: z.array(factForm),
    scores: z.array(scoreForm).optional(),
    is_truncated: z.boolean(),
    observation: json.describe('pass it in `observations` of a proposal that uses the facts'),
  }),
  errors: ['bad_argument'],
  run: async (request) => {
    const memory = await readingMemory(request);
    const query = {
      ...request.body,
      ...(request.body.text !== undefined && { signal: request.signal }),
    } as RecallQuery;
    const { facts, scores, isTruncated, observation } = await memory.recall(query);
    return {
      body: {
        facts: facts.map((fact) => ({ ...fact })) as never,
        ...(scores !== undefined && { scores: scores.map((score) => ({ ...score })) }),
        is_truncated: isTruncated,
        observation: observation as never,
      },
    };
  },
});

const witnessForm = z
  .looseObject({
    strategy: z.string(),
    winner: z.string(),
    loser: z.string(),
    members: z.array(
      z.looseObject({ claim: z.string(), object: z.string(), confidence: z.number() }),
    ),
    judge: z.string().optional(),
    policy: z.string().optional(),
  })
  .meta({ id: 'Witness', description: 'Why an assertion lost: its strategy, and all candidates.' });

const contradictionForm = z
  .looseObject({
    fact: factForm,
    witness: z.union([witnessForm, z.literal('erased')]),
    decided: z
      .looseObject({ entry: hash, principal: z.string(), as: z.string() })
      .optional()
      .describe('a decision of a person'),
  })
  .meta({ id: 'Contradiction' });

const originForm = z
  .looseObject({
    id: hash,
    trajectoryId: z.string(),
    seq: z.number().int(),
    at: instant,
    action: z.string(),
  })
  .meta({ id: 'FactEntry', description: 'A commit that a fact derives from.' });

const about = z.strictObject({ subject: name.optional(), predicate: name.optional() });

const history = operation({
  id: 'memory.history',
  method: 'get',
  path: '/v1/trajectories/{trajectory}/memory/{space}/history',
  summary: 'All versions of facts, with those that lost a contradiction.',
  kinds: READERS,
  params: place,
  query: about,
  answer: z.strictObject({ facts: z.array(factForm) }),
  run: async (request) => {
    const memory = await readingMemory(request);
    const { subject, predicate } = request.query;
    const facts = await memory.history({
      kind: 'all',
      ...(subject !== undefined && { subject }),
      ...(predicate !== undefined && { predicate }),
    });
    return { body: { facts: facts.map((fact) => ({ ...fact })) as never } };
  },
});

const keyForm = z
  .strictObject({
    subject: z.string(),
    predicate: z.string(),
    versions: z.number().int(),
    lost: z.number().int().describe('assertions that lost a contradiction'),
  })
  .meta({
    id: 'MemoryKey',
    description: 'A subject and a predicate that have facts, current or past.',
  });

const keys = operation({
  id: 'memory.keys',
  method: 'get',
  path: '/v1/trajectories/{trajectory}/memory/{space}/keys',
  summary: 'The subjects and predicates of all facts, current and past, in code-point order.',
  kinds: READERS,
  params: place,
  query: z.strictObject({
    text: name.optional().describe('a part of the subject or the predicate, in any case'),
    cursor: z.string().max(8_192).optional().describe('`next` of the page before'),
    limit: page.limit,
  }),
  answer: z.strictObject({ keys: z.array(keyForm), next }),
  run: async (request) => {
    const { text, cursor, limit = PAGE_DEFAULT } = request.query;
    const after = cursor === undefined ? undefined : keyIn(cursor);
    const memory = await readingMemory(request);
    const found = await memory.keys({
      limit,
      ...(text !== undefined && { text }),
      ...(after && { after }),
    });
    const last = found.isTruncated ? found.keys.at(-1) : undefined;
    const next = last && [last.subject, last.predicate].map(encoded).join('.');
    return {
      body: { keys: found.keys.map((key) => ({ ...key })), ...(next !== undefined && { next }) },
    };
  },
});

const composed = name.refine((text) => text === text.normalize('NFC'));
const cursorNames = z.tuple([composed, composed]);

/** The key that a cursor names. @throws ServerError `invalid_request` */
function keyIn(cursor: string): { readonly subject: string; readonly predicate: string } {
  const { data } = cursorNames.safeParse(
    cursor.split('.').map((part) => `${Buffer.from(part, 'base64url')}`),
  );
  if (data !== undefined) return { subject: data[0], predicate: data[1] };
  throw badCursor();
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64url');
}

const explain = operation({
  id: 'memory.explain',
  method: 'get',
  path: '/v1/trajectories/{trajectory}/memory/{space}/facts/{fact}',
  summary: 'A fact with its versions, its contradictions, and the entries that it rests on.',
  kinds: READERS,
  params: z.strictObject({ trajectory: name, space: name, fact: z.string().min(8).max(512) }),
  query: about.extend({
    since: instant
      .optional()
      .describe('the start of the version in system time; default: the last version'),
  }),
  answer: z.looseObject({
    fact: factForm,
    versions: z.array(factForm),
    contradictions: z.array(contradictionForm),
    entries: z.array(originForm),
    sources: z.array(
      z.looseObject({
        entry: hash,
        n: z.number().int(),
        source: z.string().optional(),
        metadata: STATEMENT_METADATA.optional(),
      }),
    ),
    trust: z.array(z.looseObject({ kind: z.string(), name: z.string() })),
  }),
  errors: ['not_found'],
  run: async (request) => {
    const memory = await readingMemory(request);
    const { subject, predicate, since } = request.query;
    const { facts } = await memory.recall({
      kind: 'all',
      valid: 'any',
      system: 'any',
      limit: 10_000,
      ...(subject !== undefined && { subject }),
      ...(predicate !== undefined && { predicate }),
    });
    const fact = facts.findLast(
      ({ fact_id, system_time_start }) =>
        fact_id === request.path.fact && (since ?? system_time_start) === system_time_start,
    );
    if (fact === undefined)
      throw new ServerError(
        'not_found',
        `The space ${request.path.space} has no fact ${request.path.fact}. Narrow the search with subject and predicate.`,
      );
    return { body: (await memory.explain(fact)) as never };
  },
});

type MemoryRequest = Pick<Request<typeof place, any, any>, 'path' | 'caller' | 'service'>;

/** The memory for statements of an agent. */
async function memoryOf(request: MemoryRequest): Promise<Memory> {
  const { path, caller } = request;
  const trajectory = await callerTrajectory(request, path.trajectory);
  const writ = await agentWrit(request, trajectory.id, BELIEVE_ACTION);
  return trajectory.memory({ space: path.space, writ, principal: caller.name });
}

/**
 * The memory for reading. An agent needs a grant for statements there that is not revoked: a
 * grant that names no space shows no space.
 */
async function readingMemory(request: MemoryRequest) {
  const { path, caller, service } = request;
  const trajectory = await callerTrajectory(request, path.trajectory);
  if (!isOfKind(caller, READERS)) {
    await Trajectory.catchUp(trajectory);
    const statement = { action: BELIEVE_ACTION, scopes: [`memory:${segment(path.space)}:**`] };
    const writs = await service.grants.allFor(caller, trajectory.id, service.clock.now());
    if (!writs.some((writ) => Trajectory.covers(trajectory, writ, statement)))
      throw new ServerError(
        'forbidden',
        `${caller.name} has no grant for the memory space ${path.space}.`,
      );
  }
  return service.assize.memory(path.space, trajectory.id);
}

export const memory: readonly Operation<ServerService>[] = [assert, recall, history, keys, explain];
