import { arg, checkArgument, isAssizeError, type Json } from 'assize/internal/base';
import { canonicalize, hashText, WORLD_LIMITS } from 'assize/internal/canon';
import { createAssize } from 'assize/internal/config';
import { createOracle, systemClock } from 'assize/internal/oracle';
import type { Ontology } from '../ontology.ts';
import { fileName } from '../scaffold.ts';
import { draftDomain } from './draft-domain.ts';
import { type DraftWorld, draftsIn, pendingFor, requireRuling, stateOf } from './draft-ledger.ts';
import {
  type DraftRound,
  draftId,
  draftModule,
  type ModuleDraft,
  type ModuleDraftOptions,
} from './draft-module.ts';
import { errorsIn } from './finding.ts';
import { derive } from './holes.ts';
import { requireShortReference } from './reference.ts';

export interface RecordedDraftOptions extends Omit<ModuleDraftOptions, 'oracle'> {
  /** URL of the store. A missing store is created. */
  readonly store: string;
}

/** A draft with its place in the ledger. */
export interface RecordedDraft extends ModuleDraft {
  readonly trajectory: string;
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
export async function recordDraft(
  ontology: Ontology,
  options: RecordedDraftOptions,
): Promise<RecordedDraft> {
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
  const known = await draftsIn(options.store).catch((error: unknown): string[] => {
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

function trajectoryOf(
  ontology: Ontology,
  scaffold: string,
  options: Partial<ModuleDraftOptions>,
): string {
  return `draft-${fileName(ontology)}-${draftId(ontology, scaffold, options)}`;
}

async function recordRound(
  world: DraftWorld,
  { round, question, answer, module, findings }: DraftRound,
): Promise<void> {
  const number = String(round);
  if (stateOf(world).rounds[number] !== undefined) return;
  const args = {
    number,
    question,
    answer,
    ...(module && { module }),
    errors: errorsIn(findings),
    findings,
  };
  await requireRuling(
    world.propose({ action: 'recordRound', role: 'drafter', args: plain(args) as never }),
    'committed',
  );
}

async function submit(
  world: DraftWorld,
  { round, module = '', text, tests }: NonNullable<ModuleDraft['best']>,
): Promise<void> {
  const isSubmitted =
    stateOf(world).submitted[module] !== undefined || pendingFor(world, module) !== undefined;
  if (isSubmitted) return;
  const args = { round: String(round), module, text, tests };
  await requireRuling(world.propose({ action: 'submit', role: 'drafter', args }), 'escalated');
}

function plain(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}
