import {
  ADMINS,
  ANYBODY,
  callerTrajectory,
  entryNamed,
  flag,
  hash,
  headOf,
  instant,
  isOfKind,
  json,
  name,
  next,
  type Operation,
  PAGE_DEFAULT,
  page,
  READERS,
  requireOwnName,
  ServerError,
  stateView,
  tagsOfStates,
  valueAt,
} from '@assize/command/operation';
import { isAssizeError, type Json } from 'assize/internal/base';
import {
  CanonError,
  copyJson,
  DEFAULT_LIMITS,
  hashText,
  parsePointer,
  parseStrict,
} from 'assize/internal/canon';
import {
  type BranchPayload,
  type EntryRow,
  type RootPayload,
  readRow,
} from 'assize/internal/ledger';
import { Trajectory } from 'assize/internal/runtime';
import { readable } from 'assize/internal/views';
import { z } from 'zod';
import { operation, type ServerService } from '../service.ts';
import { isWithin } from './reads/is-within.ts';

const trajectoryForm = z
  .strictObject({
    trajectory_id: z.string(),
    domain: z.strictObject({ name: z.string(), version: z.string(), hash: z.string() }),
    entries: z.number().int(),
    head: hash,
    at: instant.nullable().describe('the time of the last entry; null if it cannot be read'),
    source: z.string().nullable().describe('the trajectory that this one is a branch of'),
    delegated_from: z.string().nullable(),
    note: z.string().nullable(),
  })
  .meta({ id: 'Trajectory' });

const trajectoryId = z
  .string()
  .regex(
    /^[A-Za-z0-9._:-]{1,128}$/,
    'must be a name such as trip-1: letters, digits, dots, colons, dashes, underscores',
  )
  .describe('1 to 128 letters, digits, dots, colons, dashes or underscores');

const list = operation({
  id: 'trajectories.list',
  method: 'get',
  path: '/v1/trajectories',
  summary: 'The trajectories of the store, by id. An agent sees those of its grants.',
  kinds: ANYBODY,
  query: z.strictObject({
    domain: name.optional(),
    halted: flag.optional().describe('only trajectories that are halted'),
    ...page,
  }),
  answer: z.strictObject({ trajectories: z.array(trajectoryForm), next }),
  run: async ({ query, caller, service }) => {
    const { domain, halted: isHalted = false, cursor = '', limit = PAGE_DEFAULT } = query;
    const names = isHalted
      ? await service.assize.namesToReview()
      : (await service.store.trajectories()).map(({ trajectory_id }) => trajectory_id);
    const all = names.filter((id) => id > cursor).sort((a, b) => (a < b ? -1 : 1));
    const trajectories: z.input<typeof trajectoryForm>[] = [];
    for (const id of all) {
      if (!isOfKind(caller, READERS) && !(await service.grants.mayAct(caller, id))) continue;
      if (isHalted && !(await isHaltedNow(service, id))) continue;
      const shown = await viewOf(service, await headOf({ service }, id));
      if (domain !== undefined && shown.domain.name !== domain) continue;
      if (trajectories.length === limit)
        return { body: { trajectories, next: trajectories.at(-1)?.trajectory_id } };
      trajectories.push(shown);
    }
    return { body: { trajectories } };
  },
});

const create = operation({
  id: 'trajectories.create',
  method: 'post',
  path: '/v1/trajectories',
  summary: 'Create a trajectory of a domain.',
  kinds: ADMINS,
  body: z
    .strictObject({
      domain: name,
      trajectory_id: trajectoryId.optional(),
      initial: json.optional(),
      note: z.string().max(4_096).optional(),
    })
    .meta({ id: 'NewTrajectory' }),
  answer: trajectoryForm,
  statuses: [201],
  errors: ['exists', 'invalid_state', 'bad_argument'],
  run: async ({ body, service }) => {
    const domain = service.domains.find(({ name }) => name === body.domain);
    if (domain === undefined)
      throw new ServerError(
        'not_found',
        `There is no domain ${body.domain}. List them with GET /v1/domains.`,
      );
    if (body.trajectory_id !== undefined) {
      requireOwnName(body.trajectory_id);
      await service.deployment?.place(body.trajectory_id);
    }
    const made = await service.assize.create(domain, {
      ...(body.trajectory_id !== undefined && { trajectoryId: body.trajectory_id }),
      ...(body.initial !== undefined && { initial: body.initial }),
      ...(body.note !== undefined && { note: body.note }),
    });
    const head = await headOf({ service }, made.id);
    return {
      status: 201,
      headers: { location: `/v1/trajectories/${made.id}` },
      body: await viewOf(service, head),
    };
  },
});

const get = operation({
  id: 'trajectories.get',
  method: 'get',
  path: '/v1/trajectories/{trajectory}',
  summary: 'A trajectory: its domain, its length, and whether it is halted.',
  kinds: ANYBODY,
  params: z.strictObject({ trajectory: name }),
  answer: trajectoryForm.extend({
    halted: z.strictObject({ principal: z.string(), at: instant, reason: z.string() }).nullable(),
    pending: z.number().int(),
    memory_spaces: z
      .array(z.string())
      .optional()
      .describe(
        'the shared spaces with facts, and those of this branch; absent for agents, and without a memory',
      ),
  }),
  run: async (request) => {
    const { path, service, caller } = request;
    const trajectory = await callerTrajectory(request, path.trajectory);
    const erasures = await service.assize.erasures();
    const { entry, result } = await Trajectory.readMemory(trajectory, erasures, ({ halted }) => ({
      halted:
        halted === undefined
          ? null
          : { principal: halted.principal, at: halted.at, reason: halted.reason },
      pending: trajectory.approvals.pending().length,
    }));
    const hasMemory = trajectory.domain.memory !== undefined && isOfKind(caller, READERS);
    const spaces = hasMemory ? await spacesFor(service, path.trajectory) : undefined;
    const memory = spaces === undefined ? {} : { memory_spaces: spaces };
    // Other trajectories add spaces.
    const etag = `${entry.id}-${result.pending}-${hashText(JSON.stringify(memory)).slice(0, 16)}`;
    if (request.hasAnswer(etag)) return { etag };
    return { body: { ...(await viewOf(service, entry)), ...result, ...memory }, etag };
  },
});

/** Undefined while the facts of the store are incomplete: the trajectory is still readable. */
async function spacesFor(
  { store }: ServerService,
  trajectoryId: string,
): Promise<string[] | undefined> {
  try {
    const shared = await store.spaces();
    const own = (await store.branches()).filter(({ branch }) => branch === trajectoryId);
    return [...new Set([...shared, ...own.map(({ space }) => space)])].sort();
  } catch (error) {
    if (isAssizeError(error, 'store_facts_incomplete')) return undefined;
    throw error;
  }
}

export const at: z.ZodOptional<z.ZodString> = name
  .optional()
  .describe('an entry: its id, or TRAJECTORY@SEQ; default: the last one');

const state = operation({
  id: 'trajectories.state',
  method: 'get',
  path: '/v1/trajectories/{trajectory}/state',
  summary: 'The verified state of a trajectory, now or after an entry.',
  kinds: READERS,
  params: z.strictObject({ trajectory: name }),
  query: z.strictObject({ at, pointer: z.string().optional() }),
  answer: z.strictObject({
    trajectory_id: z.string(),
    seq: z.number().int(),
    entry_id: hash,
    pointer: z.string(),
    state: json,
  }),
  run: async (request) => {
    const { path, query, service } = request;
    const { pointer = '' } = query;
    // An invalid pointer is refused before any read.
    parsePointer(pointer);
    // One order of members, so that equal entity tags stand for equal texts.
    const read = (state: Json): Json => copyWithin(partOf(state, pointer));
    const at = await pointIn(request, path.trajectory, query.at);
    const tagOf = await tagsOfStates(service);
    if (request.hasAnswer(tagOf(at))) return { etag: tagOf(at) };
    const { entry, result } =
      query.at === undefined
        ? await service.assize.readHead(at.trajectory_id, read)
        : { entry: at, result: await service.assize.readState(at, read) };
    return { body: stateView(entry, pointer, result) as never, etag: tagOf(entry) };
  },
});

/** A copy. Of a larger value no more than the limit is read. @throws CanonError `too_large` */
function copyWithin(value: Json): Json {
  const { bytesMax } = DEFAULT_LIMITS;
  if (isWithin(value, bytesMax)) return copyJson(value);
  const message = `The value has more than ${bytesMax} bytes. Read a part of it with a pointer, or its outline.`;
  throw new CanonError('too_large', '', message);
}

const slice = operation({
  id: 'trajectories.slice',
  method: 'get',
  path: '/v1/trajectories/{trajectory}/slice',
  summary: 'The part of the state that a role sees. An agent needs a grant for the role.',
  kinds: ANYBODY,
  params: z.strictObject({ trajectory: name }),
  query: z.strictObject({
    role: name,
    params: z
      .string()
      .max(65_536)
      .optional()
      .describe('the parameters of the role, as a JSON object'),
    at,
  }),
  answer: z.strictObject({
    trajectory_id: z.string(),
    seq: z.number().int(),
    entry_id: hash,
    slice: json,
  }),
  run: async (request) => {
    const { path, query, caller, service } = request;
    const trajectory = await callerTrajectory(request, path.trajectory);
    const role = { name: query.role, params: paramsOf(query.params) };
    if (!Object.hasOwn(trajectory.domain.roles, role.name))
      throw new ServerError(
        'not_found',
        `The domain ${trajectory.domain.name} has no role ${role.name}.`,
      );
    if (!isOfKind(caller, READERS)) {
      await Trajectory.catchUp(trajectory);
      const writs = await service.grants.allFor(caller, trajectory.id, service.clock.now());
      if (!writs.some((writ) => Trajectory.grantsRole(trajectory, writ, role)))
        throw new ServerError(
          'forbidden',
          `${caller.name} has no grant for the role ${role.name} in ${trajectory.id}.`,
        );
    }
    const at = await pointIn(request, trajectory.id, query.at);
    const tagOf = await tagsOfStates(service);
    if (request.hasAnswer(tagOf(at))) return { etag: tagOf(at) };
    const { entry, result } =
      query.at === undefined
        ? await Trajectory.readMemory(trajectory, await service.assize.erasures(), ({ world }) =>
            world.slice(role.name, role.params),
          )
        : { entry: at, result: await trajectory.sliceAt(at.id, role.name, role.params) };
    return {
      body: {
        trajectory_id: trajectory.id,
        seq: entry.seq,
        entry_id: entry.id,
        slice: result as never,
      },
      etag: tagOf(entry),
    };
  },
});

/** The value at a place of a state. @throws ServerError `not_found` */
export function partOf(state: Json, pointer: string): Json {
  const part = valueAt(state, pointer);
  if (part === undefined)
    throw new ServerError('not_found', `The state has no value at ${pointer}.`);
  return part;
}

/** @throws ServerError `not_found` for an entry of another trajectory */
export async function pointIn(
  { service }: { readonly service: ServerService },
  trajectory: string,
  text: string | undefined,
): Promise<EntryRow> {
  if (text === undefined) return headOf({ service }, trajectory);
  const entry = await entryNamed({ service }, text);
  if (entry.trajectory_id === trajectory) return entry;
  throw new ServerError('not_found', `The trajectory ${trajectory} has no entry ${text}.`);
}

function paramsOf(text: string | undefined): Record<string, string> {
  const read = text === undefined ? {} : parseStrict(text);
  const isParams =
    typeof read === 'object' &&
    read !== null &&
    Object.values(read).every((value) => typeof value === 'string');
  if (isParams && !Array.isArray(read)) return read as unknown as Record<string, string>;
  const findings = [{ pointer: '/query/params', message: 'must be a JSON object of texts' }];
  throw new ServerError(
    'invalid_request',
    'The request is not valid: /query/params must be a JSON object of texts.',
    {
      evidence: { findings },
    },
  );
}

/**
 * False for a trajectory that does not verify: it accepts nothing. A trajectory of an unknown
 * domain cannot be opened, so its entries are read instead.
 */
async function isHaltedNow(service: ServerService, id: string): Promise<boolean> {
  const { assize } = service;
  try {
    const trajectory = await assize.open(id);
    await Trajectory.catchUp(trajectory);
    return trajectory.halted !== undefined;
  } catch (error) {
    if (isAssizeError(error, 'invalid_ledger')) return false;
    if (isAssizeError(error, 'domain_mismatch'))
      return assize.isHaltedAt(await headOf({ service }, id));
    throw error;
  }
}

/** A trajectory by its last entry. Its first entry says where it came from. */
async function viewOf(
  service: ServerService,
  head: EntryRow,
): Promise<z.input<typeof trajectoryForm>> {
  const { trajectory_id, seq, id } = head;
  const [first] = await service.store.entries(trajectory_id, { from: 0, limit: 1 });
  const begun = readRow(first as EntryRow).payload as RootPayload | BranchPayload;
  const { name, version, hash } = await service.assize.domainAt(head).catch((error: unknown) => {
    // A trajectory that does not verify is listed with the domain of its first entry.
    if (isAssizeError(error)) return begun.domain;
    throw error;
  });
  return {
    trajectory_id,
    domain: { name, version, hash },
    entries: seq + 1,
    head: id,
    at: readable(head)?.payload.at ?? null,
    source: begun.kind === 'branch' ? begun.source_trajectory_id : null,
    delegated_from: (begun.kind === 'root' && begun.delegated_from?.trajectory_id) || null,
    note: begun.note ?? null,
  };
}

export const trajectories: readonly Operation<ServerService>[] = [list, create, get, state, slice];
