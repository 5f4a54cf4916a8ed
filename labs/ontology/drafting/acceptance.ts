import { arg, checkArgument } from 'assize/internal/base';
import { hashText } from 'assize/internal/canon';
import { createAssize } from 'assize/internal/config';
import { faultOfName, isSamePrincipal } from 'assize/internal/kernel';
import { draftDomain, isPerson } from './draft-domain.ts';
import {
  type DraftWorld,
  draftsIn,
  notAcceptable,
  pendingFor,
  requireRuling,
  stateOf,
} from './draft-ledger.ts';
import type { DraftFinding } from './finding.ts';

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
 *   is not a person, or is the model; the errors of `openStore` and `createAssize`
 */
export async function acceptDraft(
  storeUrl: string,
  text: string,
  principal: string,
): Promise<SubmittedDraft> {
  checkArgument(arg.text, principal, 'principal');
  return withSubmitted(storeUrl, text, async (world, draft) => {
    if (draft.accepted !== undefined) {
      requirePerson(principal, draft);
      return draft;
    }
    const pending = pendingFor(world, draft.module);
    if (pending === undefined)
      throw notAcceptable('The draft waits for no approval. Draft it again.');
    await requireRuling(
      world.trajectory.approvals.approve(pending.id, { principal, method: 'cli' }),
      'committed',
    );
    const accepted = stateOf(world).accepted[draft.module];
    return { ...draft, ...(accepted && { accepted }) };
  });
}

/** As the approval requires it, for a draft that needs none any more. @throws OntologyError */
function requirePerson(principal: string, { model }: SubmittedDraft): void {
  if (
    faultOfName(principal) === undefined &&
    isPerson(principal) &&
    !isSamePrincipal(principal, model)
  )
    return;
  throw notAcceptable(`${principal} is not a person. Name one as human:NAME.`);
}

async function withSubmitted<T>(
  storeUrl: string,
  text: string,
  work: (world: DraftWorld, draft: SubmittedDraft) => Promise<T>,
): Promise<T> {
  checkArgument(arg.text, storeUrl, 'storeUrl');
  checkArgument(arg.text, text, 'text');
  const module = hashText(text);
  const drafts = await draftsIn(storeUrl);
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

function submittedIn(
  world: DraftWorld,
  trajectory: string,
  module: string,
): SubmittedDraft | undefined {
  const { about, rounds, submitted, accepted } = stateOf(world);
  const row = submitted[module] ?? pendingFor(world, module)?.args;
  // The text is hashed again, because an action cannot compare it with its hash.
  if (row === undefined || hashText(row.text) !== module) return undefined;
  const { domain, model, scaffold } = about;
  const by = accepted[module];
  const { text, tests } = row;
  const findings = rounds[row.round]?.findings ?? [];
  return {
    trajectory,
    domain,
    model,
    scaffold,
    text,
    tests,
    module,
    findings,
    ...(by && { accepted: by }),
  };
}
