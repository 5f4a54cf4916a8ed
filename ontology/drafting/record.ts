import { arg, checkArgument, isAssizeError, type Json } from 'assize/internal/base';
import { canonicalize, hashText, WORLD_LIMITS } from 'assize/internal/canon';
import { createAssize } from 'assize/internal/config';
import { faultOfName, isSamePrincipal } from 'assize/internal/kernel';
import { createOracle, systemClock } from 'assize/internal/oracle';
import { openStore } from 'assize/internal/stores';
import { OntologyError } from '../errors.ts';
import type { Ontology } from '../ontology.ts';
import { fileName } from '../scaffold.ts';
import { type DraftState, draftDomain, isPerson } from './draft-domain.ts';
import { type DraftRound, draftId, draftModule, type ModuleDraft, type ModuleDraftOptions } from './draft-module.ts';
import { type DraftFinding, errorsIn } from './finding.ts';
import { derive } from './holes.ts';
import { requireShortReference } from './reference.ts';

export interface RecordedDraftOptions extends Omit<ModuleDraftOptions, 'oracle'> {
  /** URL of the store, which is created if it does not exist. */
  readonly store: string;
}

/** A draft with its place in the ledger. */
export interface RecordedDraft extends ModuleDraft {
  readonly trajectory: string;
}

/** A submitted module, for the person that reviews it. */
export interface SubmittedDraft {
  readonly trajectory: string;
  readonly domain: string;
  /** The principal that drafted. */
  readonly model: string;
  readonly scaffold: string;
  readonly text: string;
  readonly tests: string;
  /** The hash of the text. */
  readonly module: string;
  readonly findings: readonly DraftFinding[];
  /** The acceptance, once there is one. */
  readonly accepted?: { readonly by: string; readonly at: string };
}

const OPTIONS = arg.members({ store: arg.text });

/**
 * Same as `draftModule`, with a ledger. It has the ontology and, before the next question, the key
 * of each question with the hash of its answer and the findings. The answers are in the oracle log
 * of the same store. A module without errors is submitted, as a proposal that waits for a
 * person. A repeated call with the same ontology, model and options asks no model.
 *
 * @throws the errors of `draftModule`, `openStore` and `createAssize`; ArgumentError `bad_argument`
 */
export async function recordDraft(ontology: Ontology, options: RecordedDraftOptions): Promise<RecordedDraft> {
  checkArgument(OPTIONS, options, 'options');
  const { store: url, ...drafting } = options;
  requireShortReference(drafting.reference);
  const { scaffold } = derive(ontology);
  const model = `model:${options.modelVersion ?? 'unnamed'}`;
  const trajectory = trajectoryOf(ontology, scaffold, options);
  const about = {
    ...{ domain: ontology.domain, file: fileName(ontology), model, scaffold },
    ontology: canonicalize(plain(ontology), WORLD_LIMITS),
    ...(drafting.reference !== undefined && { reference: hashText(drafting.reference) }),
  };
  const world = await createAssize({
    ...{ store: url, domain: draftDomain, name: trajectory, agent: model },
    initial: { about, rounds: {}, submitted: {}, accepted: {} },
  });
  try {
    const draft = await draftModule(ontology, {
      ...drafting,
      oracle: createOracle({ store: world.store, clock: systemClock, mode: 'record' }),
      onRound: async (round) => {
        await recordRound(world, round);
        await options.onRound?.(round);
      },
    });
    if (draft.ok && draft.best !== undefined) await submit(world, draft.best);
    return { ...draft, trajectory };
  } finally {
    await world.close();
  }
}

/**
 * The hashes of the modules that the rounds of the same drafting made. Nothing is asked or written.
 *
 * @throws the errors of `openStore` and `createAssize`
 */
export async function recordedModules(
  ontology: Ontology,
  options: Omit<RecordedDraftOptions, 'model'>,
): Promise<ReadonlySet<string>> {
  const name = trajectoryOf(ontology, derive(ontology).scaffold, options);
  const known = await trajectoriesIn(options.store).catch((error: unknown): string[] => {
    if (isAssizeError(error, 'store_not_found')) return [];
    throw error;
  });
  if (!known.includes(name)) return new Set();
  const world = await createAssize({ store: options.store, domain: draftDomain, name });
  try {
    const rounds = Object.values(stateOf(world).rounds);
    return new Set(rounds.map(({ module }) => module).filter((module) => module !== undefined));
  } finally {
    await world.close();
  }
}

function trajectoryOf(ontology: Ontology, scaffold: string, options: Partial<ModuleDraftOptions>): string {
  return `draft-${fileName(ontology)}-${draftId(ontology, scaffold, options)}`;
}

type World = Awaited<ReturnType<typeof createAssize<typeof draftDomain>>>;

async function recordRound(world: World, { round, question, answer, module, findings }: DraftRound): Promise<void> {
  const number = String(round);
  if (stateOf(world).rounds[number] !== undefined) return;
  const args = { number, question, answer, ...(module && { module }), errors: errorsIn(findings), findings };
  await ruled(world.propose({ action: 'recordRound', role: 'drafter', args: plain(args) as never }), 'committed');
}

async function submit(
  world: World,
  { round, module = '', text, tests }: NonNullable<ModuleDraft['best']>,
): Promise<void> {
  const isSubmitted = stateOf(world).submitted[module] !== undefined || pendingFor(world, module) !== undefined;
  if (isSubmitted) return;
  const args = { round: String(round), module, text, tests };
  await ruled(world.propose({ action: 'submit', role: 'drafter', args }), 'escalated');
}

/**
 * The submitted draft whose module has this text: the ledger is read, and its chain is checked.
 *
 * @throws OntologyError `not_acceptable`; the errors of `openStore` and `createAssize`
 */
export async function submittedDraft(storeUrl: string, text: string): Promise<SubmittedDraft> {
  return withSubmitted(storeUrl, text, async (_world, draft) => draft);
}

/**
 * Records that a person accepts the submitted draft with this text, and returns it with the
 * acceptance. A repeated call returns the recorded acceptance.
 *
 * @throws OntologyError `not_acceptable`; KernelError `unauthorised_counselor` for a principal that
 *   is no person, or is the model; the errors of `openStore` and `createAssize`
 */
export async function acceptDraft(storeUrl: string, text: string, principal: string): Promise<SubmittedDraft> {
  checkArgument(arg.text, principal, 'principal');
  return withSubmitted(storeUrl, text, async (world, draft) => {
    if (draft.accepted !== undefined) {
      requirePerson(principal, draft);
      return draft;
    }
    const pending = pendingFor(world, draft.module);
    if (pending === undefined) throw notAcceptable('The draft waits for no approval. Draft it again.');
    await ruled(world.trajectory.approvals.approve(pending.id, { principal, method: 'cli' }), 'committed');
    const accepted = stateOf(world).accepted[draft.module];
    return { ...draft, ...(accepted && { accepted }) };
  });
}

/** As the approval requires it, for a draft that needs none any more. @throws OntologyError */
function requirePerson(principal: string, { model }: SubmittedDraft): void {
  if (faultOfName(principal) === undefined && isPerson(principal) && !isSamePrincipal(principal, model)) return;
  throw notAcceptable(`${principal} is no person. Name one as human:NAME.`);
}

async function withSubmitted<T>(
  storeUrl: string,
  text: string,
  work: (world: World, draft: SubmittedDraft) => Promise<T>,
): Promise<T> {
  checkArgument(arg.text, storeUrl, 'storeUrl');
  checkArgument(arg.text, text, 'text');
  const module = hashText(text);
  const drafts = await trajectoriesIn(storeUrl);
  for (const name of drafts) {
    const world = await createAssize({ store: storeUrl, domain: draftDomain, name });
    try {
      const draft = submittedIn(world, name, module);
      if (draft !== undefined) return await work(world, draft);
    } finally {
      await world.close();
    }
  }
  const message =
    drafts.length === 0
      ? 'The store has no draft. Draft a module first.'
      : 'No submitted draft has this text: its file was changed, or its findings have errors. Draft it again.';
  throw notAcceptable(message, { found: module });
}

async function trajectoriesIn(storeUrl: string): Promise<string[]> {
  const store = await openStore(storeUrl, { mode: 'existing' });
  try {
    const all = await store.trajectories();
    return all.map(({ trajectory_id }) => trajectory_id).filter((name) => name.startsWith('draft-'));
  } finally {
    await store.close();
  }
}

function submittedIn(world: World, trajectory: string, module: string): SubmittedDraft | undefined {
  const { about, rounds, submitted, accepted } = stateOf(world);
  const row = submitted[module] ?? pendingFor(world, module)?.args;
  // The text is hashed again, because an action cannot compare it with its hash.
  if (row === undefined || hashText(row.text) !== module) return undefined;
  const { domain, model, scaffold } = about;
  const by = accepted[module];
  const { text, tests } = row;
  const findings = rounds[row.round]?.findings ?? [];
  return { trajectory, domain, model, scaffold, text, tests, module, findings, ...(by && { accepted: by }) };
}

type Submission = DraftState['submitted'][string];

function pendingFor(world: World, module: string): { readonly id: string; readonly args: Submission } | undefined {
  for (const { id, payload } of world.trajectory.approvals.pending()) {
    const { name, args } = payload.proposal.action;
    const given = args as unknown as Submission;
    if (name === 'submit' && given.module === module) return { id, args: given };
  }
  return undefined;
}

function stateOf({ trajectory }: World): DraftState {
  return trajectory.state() as unknown as DraftState;
}

async function ruled(
  ruling: Promise<{ readonly ruling: string; readonly detail?: string }>,
  as: string,
): Promise<void> {
  const { ruling: found, detail = '' } = await ruling;
  if (found !== as) throw notAcceptable(`The record of the draft is refused (${found}): ${detail}`);
}

function plain(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

function notAcceptable(message: string, evidence: Readonly<Record<string, unknown>> = {}): OntologyError {
  return new OntologyError('not_acceptable', message, { evidence });
}
