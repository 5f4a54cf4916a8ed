import {
  ADMINS,
  amounts,
  type Caller,
  digits,
  documentForm,
  flag,
  hash,
  instant,
  json,
  name,
  next,
  type Operation,
  PAGE_DEFAULT,
  page,
  READERS,
  roleForm,
  ServerError,
} from '@assize/command/operation';
import { isAssizeError } from 'assize/internal/base';
import { conflicts, readClaim } from 'assize/internal/effects';
import { type Hash, observationsOf, readRow, ValueReader } from 'assize/internal/ledger';
import type { Trajectory } from 'assize/internal/runtime';
import {
  type CallTexts,
  callTextsOf,
  effectTransactionView,
  leftInState,
  storedTextsOf,
} from 'assize/internal/views';
import { z } from 'zod';
import { readableIn } from '../card/notice-card.ts';
import { isOperator } from '../notices/mail/deciders-in.ts';
import { requireOther } from '../principals/issuers.ts';
import { operation, type ServerService } from '../service.ts';
import { effectWords } from './reads/effect-words.ts';

const claimForm = z.strictObject({ access: z.enum(['read', 'write']), scope: z.string() });
const storedForm = z
  .looseObject({
    value: json.optional(),
    erased_by: z.string().optional(),
    missing: z.boolean().optional(),
  })
  .meta({
    id: 'StoredText',
    description: 'A stored value. It may be erased, or the store may lack it.',
  });

const effectForm = z
  .looseObject({
    n: z.number().int(),
    tool: z.string(),
    title: z.string().optional().describe('what the call does, in words; absent after an erasure'),
    key: z.string(),
    class: z.looseObject({ delivery: z.string(), reversibility: z.string(), sink: z.string() }),
    phase: z.string(),
    failures: z.number().int(),
    needs_human: z.boolean(),
    branch: z.string().optional(),
    why: z.string().optional().describe('the code of the tool for an effect without an outcome'),
    undo_cost: amounts.optional(),
    residue: storedForm.optional(),
    differs: storedForm.optional(),
    resolved: z.looseObject({ as: z.string(), by: z.string() }).optional(),
  })
  .meta({
    id: 'Effect',
    description: 'A tool call of a transaction, with its class and its phase.',
  });

const transactionForm = z
  .looseObject({
    epoch: z.number().int(),
    version: z.number().int().describe('rises with each change of the transaction'),
    trajectory_id: z.string(),
    name: z.string(),
    submitted_as: z.string().optional(),
    at: instant
      .optional()
      .describe('of the commit, or else of the entry that ended or came before'),
    title: z.string().optional().describe('what the action does, as its domain presents it'),
    principal: z.string(),
    writ: hash,
    phase: z.string(),
    entry_id: hash.optional().describe('the commit'),
    cause: z.string().optional().describe('why it was aborted'),
    claims: z.array(claimForm),
    effects: z.array(effectForm),
    may_settle: z
      .boolean()
      .optional()
      .describe('with a call in doubt: whether the caller may decide about its outcome'),
  })
  .meta({
    id: 'EffectTransaction',
    description: 'A transaction of tool calls, with the phase of each call.',
  });

const wholeForm = transactionForm
  .extend({
    claims: z.array(
      claimForm.extend({
        frontier: z
          .number()
          .int()
          .nullable()
          .describe('the lowest epoch of active work that conflicts there; null without such work'),
      }),
    ),
    undone_by: hash.optional().describe('the entry that ruled on an aborted transaction'),
    effects: z.array(
      effectForm
        .extend({
          input: storedForm.optional(),
          answer: storedForm.optional(),
          claims: z.array(claimForm).optional(),
        })
        .meta({ id: 'EffectCall' }),
    ),
  })
  .meta({
    id: 'EffectTransactionWhole',
    description: 'A transaction, with the input and the answer of each call.',
  });

const resolvedForm = transactionForm
  .extend({
    left_in_state: z
      .strictObject({
        entry_id: hash,
        action: z.string(),
        paths: z.array(z.string()),
        correction: z
          .strictObject({ action: z.string(), role: roleForm, args: json })
          .optional()
          .describe('the proposal that the domain declares for a failure; nobody has made it'),
      })
      .optional()
      .describe('what the commit changed in the state, although the call did not happen'),
  })
  .meta({ id: 'ResolvedTransaction' });

const list = operation({
  id: 'effects.list',
  method: 'get',
  path: '/v1/effects',
  summary: 'Tool transactions that have not ended; with `all=true` also ended ones, newest first.',
  kinds: READERS,
  query: z.strictObject({
    trajectory: name.optional(),
    all: flag.optional(),
    needs_human: flag.optional().describe('only transactions with an effect in doubt'),
    cursor: digits.optional().describe('`next` of the page before; with `all=true`'),
    limit: page.limit,
  }),
  answer: z.strictObject({ transactions: z.array(transactionForm), next }),
  run: async ({ query, caller, service }) => {
    const {
      trajectory,
      all = false,
      needs_human: isInDoubt = false,
      cursor,
      limit = PAGE_DEFAULT,
    } = query;
    const page = all ? { limit, ...(cursor !== undefined && { before: cursor }) } : {};
    const listed = await service.assize.effects({
      all,
      ...page,
      ...(trajectory !== undefined && { trajectoryId: trajectory }),
    });
    const shown = await viewsOf({ caller, service }, listed);
    const transactions = isInDoubt
      ? shown.filter(({ effects }) => effects.some((one) => one['needs_human']))
      : shown;
    const last = listed.at(-1);
    const isMore = all && last !== undefined && listed.length === limit;
    return { body: { transactions, ...(isMore && { next: String(last.epoch) }) } };
  },
});

const get = operation({
  id: 'effects.get',
  method: 'get',
  path: '/v1/effects/{epoch}',
  summary: 'A tool transaction, with the inputs and the answers of its calls.',
  kinds: READERS,
  params: z.strictObject({ epoch: digits }),
  answer: wholeForm,
  run: async ({ path, caller, service }) => {
    const { effects, claims, ...transaction } = await transactionOf(
      { caller, service },
      path.epoch,
    );
    const open = await service.assize.effects();
    const { calls, undoneBy } = await callTextsOf(service.store, path.epoch);
    const whole = effects.map((effect, n): z.input<typeof effectForm> & CallTexts => ({
      ...effect,
      ...calls[n],
    }));
    return {
      body: {
        ...transaction,
        ...(undoneBy !== undefined && { undone_by: undoneBy }),
        claims: claims.map((claim) => ({ ...claim, frontier: frontierOf(claim, open) })),
        effects: whole as never,
      },
    };
  },
});

const resolve = operation({
  id: 'effects.resolve',
  method: 'post',
  path: '/v1/effects/{epoch}/{n}/resolve',
  summary: 'Record an operator’s decision about an effect in doubt.',
  kinds: ['counselor', 'admin'],
  params: z.strictObject({ epoch: digits, n: digits }),
  body: z
    .strictObject({
      as: z
        .enum(['applied', 'undone', 'did_not_happen', 'retry', 'residue'])
        .describe(
          '`did_not_happen`: the tool refused the call, or it had no effect; recorded as `undone`',
        ),
      evidence: z.string().min(1).max(65_536).describe('the finding that supports the decision'),
      confirm: z.boolean().optional().describe('retry even if the effect may happen twice'),
      version: z
        .number()
        .int()
        .min(0)
        .optional()
        .describe('of the transaction that the person saw; refused if it has changed since'),
    })
    .meta({ id: 'EffectDecision' }),
  answer: resolvedForm,
  errors: ['unauthorised_operator', 'needs_confirmation', 'already_done', 'wrong_state'],
  run: async ({ path, body, caller, service, signal }) => {
    const transaction = await transactionOf({ caller, service }, path.epoch);
    const trajectory = await service.assize.open(transaction.trajectory_id);
    await requireNotRequester({ caller, service }, trajectory, transaction);
    const isAdmin = caller.kinds.includes('admin');
    const now = service.clock.now();
    await service.assize.resolveEffect(
      {
        epoch: path.epoch,
        n: path.n,
        as: body.as,
        by: caller.name,
        tokenBy: caller.tokenBy ?? [],
        evidence: body.evidence,
        confirm: body.confirm ?? false,
        ...(body.version !== undefined && { version: body.version }),
        ...(isAdmin && {
          writ: service.systemWrits.forBuiltIn(
            caller.name,
            'assize.resolve_effect',
            transaction.trajectory_id,
            now,
          ),
        }),
      },
      signal,
    );
    const ended = await transactionOf({ caller, service }, path.epoch);
    const isAbsent = body.as === 'undone' || body.as === 'did_not_happen';
    const values = new ValueReader(service.store);
    const left = isAbsent
      ? await leftInState(service.store, values, transaction.entry_id, trajectory.domain.actions)
      : undefined;
    return { body: { ...ended, ...(left && { left_in_state: left }) } };
  },
});

const recover = operation({
  id: 'effects.recover',
  method: 'post',
  path: '/v1/effects/recover',
  summary: 'Finish the transactions of ended processes, and list the effects that need a decision.',
  kinds: ADMINS,
  answer: z.strictObject({ unresolved: z.array(documentForm) }),
  run: async ({ service, signal }) => {
    const unresolved = await service.assize.recoverEffects(signal);
    return {
      body: {
        unresolved: unresolved.map(({ epoch, trajectoryId, n, tool, key, phase, why }) => ({
          epoch,
          trajectory_id: trajectoryId,
          n,
          tool,
          key,
          phase,
          ...(why !== undefined && { why }),
        })),
      },
    };
  },
});

/** The lowest epoch of open transactions with a conflicting claim. */
function frontierOf(
  { access, scope }: z.output<typeof claimForm>,
  open: Awaited<ReturnType<ServerService['assize']['effects']>>,
): number | null {
  const claim = readClaim(access, scope);
  const active = open
    .filter(({ claims }) => claims.some((one) => conflicts(one, claim)))
    .map(({ epoch }) => epoch);
  return active.length === 0 ? null : Math.min(...active);
}

interface Asked {
  readonly caller: Caller;
  readonly service: ServerService;
}

/** As `effects.resolve` decides. */
async function maySettle(asked: Asked, transaction: Settled): Promise<boolean> {
  const { caller, service } = asked;
  const isAdmin = caller.kinds.includes('admin');
  if (!isAdmin && !caller.kinds.includes('counselor')) return false;
  const trajectory = await readableIn(service.assize, transaction.trajectory_id);
  if (trajectory === undefined || !(isAdmin || isOperator(trajectory, caller.name))) return false;
  return requireNotRequester(asked, trajectory, transaction).then(
    () => true,
    (error: unknown) => {
      if (isAssizeError(error, 'unauthorised_counselor')) return false;
      throw error;
    },
  );
}

interface Settled {
  readonly trajectory_id: string;
  readonly writ: Hash;
  readonly entry_id?: Hash | undefined;
}

/** A person settles neither the calls of an own request nor those of an own token. */
async function requireNotRequester(
  asked: Asked,
  trajectory: Trajectory,
  { writ, entry_id }: Settled,
): Promise<void> {
  const commit = entry_id && (await asked.service.store.resolve(entry_id));
  const observations = commit ? observationsOf(readRow(commit).payload) : [];
  await requireOther(asked, trajectory, { writ_id: writ, observations });
}

async function viewsOf(
  { caller, service }: Asked,
  listed: Awaited<ReturnType<ServerService['assize']['effects']>>,
): Promise<z.input<typeof transactionForm>[]> {
  const kept = await storedTextsOf(service.store, listed);
  const views: z.input<typeof transactionForm>[] = [];
  for (const one of listed) {
    const { effects, ...view } = effectTransactionView(one, kept);
    const { calls, ...words } = await effectWords(service, one.epoch);
    const titled = effects.map((effect, n) => {
      const title = calls[n];
      return title === undefined ? effect : { ...effect, title };
    });
    const isInDoubt = effects.some((effect) => effect.needs_human);
    const settle = isInDoubt && {
      may_settle: await maySettle({ caller, service }, view),
    };
    views.push({ ...view, ...words, ...settle, effects: titled } as never);
  }
  return views;
}

async function transactionOf(
  asked: Asked,
  epoch: number,
): Promise<z.input<typeof transactionForm>> {
  const [view] =
    epoch < 1 ? [] : await viewsOf(asked, await asked.service.assize.effects({ epoch }));
  if (view !== undefined) return view;
  throw new ServerError(
    'not_found',
    `There is no tool transaction ${epoch}. List them with GET /v1/effects?all=true.`,
  );
}

export const effects: readonly Operation<ServerService>[] = [list, recover, get, resolve];
