import {
  ANYBODY,
  agentWrit,
  callerTrajectory,
  factForm as factVersion,
  hash,
  instant,
  isOfKind,
  json,
  name,
  next,
  type Operation,
  READERS,
  type Request,
  rulingForm,
} from '@assize/command/operation';
import { segment } from 'assize/internal/authority';
import { contentHash } from 'assize/internal/canon';
import { BELIEVE_ACTION, STATEMENT_METADATA } from 'assize/internal/kernel';
import { Trajectory } from 'assize/internal/runtime';
import { rulingView } from 'assize/internal/views';
import { z } from 'zod';
import { ChatMemory, type ChatMessage, type ChatRecall, type Remembered, type Repair } from '#chat';
import { type AgentsService, operation } from './service.ts';

const trajectoryParams = z.strictObject({ trajectory: name });
const space = name.describe('a space of facts; default: `user:USER` with a user, else `chat`');
const user = name
  .describe('the author of the messages of the role `user`, and the default of the space')
  .optional();
const metadata = STATEMENT_METADATA.describe('noted on each fact, and a filter of a recall');

const messageForm = z
  .strictObject({
    role: z.enum(['user', 'assistant', 'system', 'tool']),
    content: z.string().max(262_144),
    name: name.describe('the author; default: the user, or the role').optional(),
    id: name.describe('the source of its facts; default: a hash of the message').optional(),
    at: instant.describe('the time of writing; default: the time of the first call').optional(),
    metadata: metadata.optional(),
  })
  .meta({
    id: 'ChatMessage',
    description: 'Messages of the roles `system` and `tool` are not read.',
  });

const givenFact = z
  .strictObject({
    message: z.number().int().min(1).describe('the number of its message, from 1'),
    subject: name,
    predicate: name,
    object: z.string().min(1).max(16_384),
    confidence: z.number().min(0).max(1).optional(),
    from: z.string().nullable().optional(),
    to: z.string().nullable().optional(),
  })
  .meta({ id: 'GivenFact', description: 'A fact that the caller read in a message.' });

/** Of 200 messages, and of 1,000 facts. */
const MESSAGES_BYTES = 1_048_576;
const MESSAGES_NAMES = 16_384;

const rememberBody = z
  .strictObject({
    space: space.optional(),
    user,
    messages: z.array(messageForm).min(1).max(200),
    metadata: metadata.optional(),
    at: instant.optional(),
    facts: z.array(givenFact).max(1_000).describe('in place of the model of the server').optional(),
    based_on: z
      .array(z.strictObject({ name: z.literal('recall'), value: json, sensitive: z.literal(true) }))
      .max(16)
      .describe('`observations` of recalls from which the facts were concluded')
      .optional(),
  })
  .meta({ id: 'Remember' });

const statedFact = z
  .looseObject({
    subject: z.string(),
    predicate: z.string(),
    object: z.string(),
    source: z.string(),
  })
  .meta({ id: 'StatedFact', description: 'A fact of a message, under the names of the memory.' });

const remember = operation({
  id: 'chat.remember',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/chat/remember',
  summary:
    'Record the facts of messages. The model of the server reads them, or the caller gives them.',
  kinds: ['agent'],
  params: trajectoryParams,
  body: rememberBody,
  bodyBytes: MESSAGES_BYTES,
  bodyNames: MESSAGES_NAMES,
  needsKey: true,
  isRouted: true,
  answer: z
    .strictObject({
      added: z.array(statedFact),
      changed: z.array(statedFact).describe('with `was`: the objects that hold no more'),
      duplicates: z.array(statedFact),
      contradicted: z
        .array(statedFact)
        .describe('facts that lost, with `by`: the objects that won'),
      withdrawn: z
        .array(statedFact)
        .describe('facts of an earlier call that were withdrawn since, and stay so'),
      skipped: z.array(z.looseObject({ why: z.string() })),
      questions: z.array(
        z.strictObject({
          approval_id: hash,
          channel: z.string(),
          detail: z.string(),
          facts: z.array(statedFact),
        }),
      ),
      entries: z.array(hash),
    })
    .meta({
      id: 'Remembered',
      description: 'What became of each fact. `questions` wait for a person.',
    }),
  statuses: [200, 202],
  errors: ['bad_argument', 'forbidden', 'idempotency_conflict', 'bad_extraction'],
  run: async (request) => {
    const { body, caller, key } = request;
    const { messages, based_on: basedOn, ...options } = body;
    const memory = await chatOf(request);
    const done = await memory.remember(messages as readonly ChatMessage[], {
      ...(options as object),
      ...(basedOn !== undefined && { basedOn: basedOn as never }),
      key: contentHash([caller.name, key]),
    });
    return {
      status: done.questions.length > 0 ? 202 : 200,
      body: rememberedDocument(done) as never,
    };
  },
});

const factForm = z
  .looseObject({
    id: z.string(),
    space: z.string(),
    subject: z.string(),
    predicate: z.string(),
    object: z.string(),
    valid_from: instant,
    valid_to: instant,
    recorded: instant,
    confidence: z.number(),
    sources: z
      .array(z.looseObject({ entry: hash, n: z.number().int() }))
      .describe('the statements behind it: entry, message, author and metadata'),
  })
  .meta({
    id: 'ChatFact',
    description: 'A fact under the names of the memory. `stated` has other names on record.',
  });

const filterForm = z
  .strictObject({
    subjects: z.array(name).max(100).optional(),
    predicates: z.array(name).max(100).optional(),
    metadata: metadata.optional(),
    author: z
      .strictObject({ role: z.enum(['user', 'assistant']).optional(), name: name.optional() })
      .describe('a statement of such an author')
      .optional(),
    during: z.strictObject({ from: instant.optional(), to: instant.optional() }).optional(),
    confidence_min: z.number().min(0).max(1).optional(),
    trust: z
      .strictObject({ approver: name.optional(), policy: name.optional(), judge: name.optional() })
      .describe('one of its members')
      .optional(),
  })
  .meta({ id: 'ChatFilter' });

const recallBody = z
  .strictObject({
    question: z.string().min(1).max(4_096).describe('default: all facts, by pages').optional(),
    spaces: z.array(name).min(1).max(16).describe('default: as for remember').optional(),
    user,
    at: instant.describe('the valid time, or `any`; default: now').optional(),
    as_of: instant.describe('as the ledger held it then; default: now').optional(),
    filter: filterForm.optional(),
    limit: z.number().int().min(1).max(200).optional(),
    cursor: z.string().max(32_768).describe('`next` of the page before').optional(),
    budget: z
      .number()
      .int()
      .min(0)
      .max(1_000_000)
      .describe('the most tokens of `context`')
      .optional(),
  })
  .meta({ id: 'ChatRecall' });

const recall = operation({
  id: 'chat.recall',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/chat/recall',
  summary: 'Recall the facts for a question, of one space or several, with a text for a prompt.',
  kinds: ANYBODY,
  params: trajectoryParams,
  body: recallBody,
  answer: z.strictObject({
    facts: z.array(factForm),
    context: z.string().describe('the facts as text for a prompt, within the budget'),
    tokens: z.number().int(),
    next,
    observations: z
      .array(json)
      .describe('pass them in `observations` or `based_on` of what uses the facts'),
  }),
  errors: ['forbidden', 'bad_argument', 'bad_argument', 'bad_instant'],
  run: async (request) => {
    const { question, as_of: asOf, filter, ...options } = request.body;
    const memory = await chatOf(request);
    const found = await memory.recall(question, {
      ...(options as object),
      ...(asOf !== undefined && { asOf }),
      ...(filter !== undefined && { filter: filterOf(filter) as never }),
      signal: request.signal,
    });
    return { body: recalledDocument(found) as never };
  },
});

const classForm = z.strictObject({ name: z.string(), all: z.array(z.string()) });

const aliases = operation({
  id: 'chat.aliases',
  method: 'get',
  path: '/v1/trajectories/{trajectory}/chat/aliases',
  summary: 'The names of a space that mean one thing.',
  kinds: ANYBODY,
  params: trajectoryParams,
  query: z.strictObject({ space: space.optional(), user }),
  answer: z.strictObject({ names: z.array(classForm), predicates: z.array(classForm) }),
  errors: ['forbidden'],
  run: async (request) => {
    const memory = await chatOf(request);
    return { body: (await memory.aliases(withoutUndefined(request.query))) as never };
  },
});

const alias = operation({
  id: 'chat.alias',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/chat/aliases',
  summary: 'Declare that a name means the same as another, or end that.',
  kinds: ['agent'],
  params: trajectoryParams,
  body: z.strictObject({
    space: space.optional(),
    user,
    alias: name,
    name: name,
    of: z.enum(['name', 'predicate']).optional(),
    remove: z.boolean().optional(),
  }),
  isRouted: true,
  answer: rulingForm,
  statuses: [200, 202],
  errors: ['bad_argument', 'unknown_predicate'],
  run: async (request) => {
    const { remove = false, ...input } = request.body;
    const memory = await chatOf(request);
    const ruling = await (remove
      ? memory.removeAlias(withoutUndefined(input))
      : memory.declareAlias(withoutUndefined(input)));
    return { status: ruling.ruling === 'escalated' ? 202 : 200, body: rulingView(ruling) };
  },
});

const dependentForm = z.looseObject({
  id: hash,
  trajectoryId: z.string(),
  seq: z.number().int(),
  action: z.string(),
});

const repair = operation({
  id: 'chat.repair',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/chat/repair',
  summary: 'List what followed from a false fact, and withdraw it if asked to.',
  kinds: ['agent'],
  params: trajectoryParams,
  body: z.strictObject({
    space: name,
    fact: z.string().min(8).max(512).describe('its id, or the first 8 or more characters'),
    apply: z.boolean().optional(),
  }),
  isRouted: true,
  answer: z.strictObject({
    is_believed: z.boolean(),
    withdrawn: z.array(statedFact.partial({ source: true })),
    decisions: z
      .array(dependentForm)
      .describe('actions that used the fact: a person looks at them'),
    unresolved: z
      .array(dependentForm)
      .describe('commits that were erased, so their conclusions are unknown'),
    restored: z
      .array(factVersion)
      .describe('facts that the withdrawn statements had displaced, and that hold again'),
    ruling: rulingForm.optional(),
  }),
  errors: ['not_found', 'ambiguous', 'forbidden'],
  run: async (request) => {
    const { space, fact, apply = false } = request.body;
    const memory = await chatOf(request);
    return { body: repairDocument(await memory.repair({ id: fact, space }, { apply })) as never };
  },
});

/**
 * The chat memory of a caller. An agent reads and writes the spaces of its grants. Others read
 * every space.
 */
async function chatOf(
  request: Pick<Request<typeof trajectoryParams, any, any>, 'path' | 'caller' | 'service'>,
): Promise<ChatMemory> {
  const { path, caller, service } = request;
  const { assize, store, clock, config } = service;
  const trajectory = await callerTrajectory(request, path.trajectory);
  const { model, theta, embedder } = config.memory;
  const options = {
    ...(model !== undefined && { model }),
    ...(theta !== undefined && { theta }),
    by: embedder === undefined ? ('text' as const) : ('hybrid' as const),
    principal: caller.name,
    clock,
  };
  if (isOfKind(caller, READERS))
    return new ChatMemory({ assize, store, trajectory }, { ...options, mayRead: () => true });
  await Trajectory.catchUp(trajectory);
  const writs = await service.grants.allFor(caller, trajectory.id, clock.now());
  const mayRead = (space: string): boolean => {
    const statement = { action: BELIEVE_ACTION, scopes: [`memory:${segment(space)}:**`] };
    return writs.some((writ) => Trajectory.covers(trajectory, writ, statement));
  };
  const writ = await agentWrit(request, trajectory.id, BELIEVE_ACTION);
  return new ChatMemory({ assize, store, trajectory, writ }, { ...options, mayRead });
}

/** The members that are present: a query has undefined ones. */
function withoutUndefined<T extends object>(input: T): never {
  return Object.fromEntries(
    Object.entries(input).filter(([, value]) => value !== undefined),
  ) as never;
}

function filterOf({
  confidence_min: confidenceMin,
  ...filter
}: z.output<typeof filterForm>): object {
  return withoutUndefined({
    ...filter,
    confidenceMin,
    trust: filter.trust && withoutUndefined(filter.trust),
    author: filter.author && withoutUndefined(filter.author),
  });
}

function rememberedDocument({ questions, ...done }: Remembered): object {
  return {
    ...done,
    questions: questions.map(({ pending, ...question }) => ({ approval_id: pending, ...question })),
  };
}

function recalledDocument({ facts, ...found }: ChatRecall): object {
  return {
    ...found,
    facts: facts.map(({ row: _, contradictedBy, ...fact }) => ({
      ...fact,
      ...(contradictedBy !== undefined && { contradicted_by: contradictedBy }),
    })),
  };
}

function repairDocument({ fact: _, isBelieved, ruling, ...rest }: Repair): object {
  return {
    is_believed: isBelieved,
    ...rest,
    ...(ruling !== undefined && { ruling: rulingView(ruling) }),
  };
}

export const chat: readonly Operation<AgentsService>[] = [remember, recall, aliases, alias, repair];
