import { amendedDifference, holdersOf, readPendingProposal, readValue } from 'assize/host';
import { isAssizeError, isInstance } from 'assize/internal/base';
import {
  approvePending,
  type CounselorCommit,
  type Intent,
  KernelError,
  overridesOf,
  type PatchOperation,
  type PendingProposal,
} from 'assize/internal/kernel';
import {
  type AmendmentRecord,
  type CommitPayload,
  type CounselorRecord,
  type Entry,
  ERASE_ACTION,
  type Hash,
  type PendingPayload,
  type RejectionPayload,
  type VectorItem,
} from 'assize/internal/ledger';
import { compareCounselor } from './counselor.ts';
import { copied, GRANTED, RECORDED } from './recorded-world.ts';
import { isSame } from './report.ts';
import {
  followErased,
  followed,
  followRecord,
  isErasing,
  placeOf,
  type RerunContext,
  readPatches,
  readProposal,
} from './rerun-context.ts';
import { costWithTools } from './ruled.ts';
import { type BrokenByRecord, brokenBy, compareVectors } from './vector.ts';

/**
 * Replays a counselor's commit: the counselor, the changes and every rule's result must be the same
 * now. A counselor's replacement is not recorded as such. It shows because the proposal would make
 * other changes; the commit is then run again as a replacement.
 */
export async function replayApproval(
  stage: RerunContext,
  entry: Entry<CommitPayload>,
  pending: PendingPayload,
): Promise<void> {
  const { authority, findings, world } = stage;
  const { delta, detection_vector: recorded = [] } = entry.payload;
  const counselor = entry.payload.counselor as CounselorRecord;
  const place = placeOf(entry);
  if (await isErasing(stage, entry)) return followErased(stage, entry);
  const patches = await readPatches(stage, entry, delta.state);
  const broken = brokenBy(recorded);
  // A proposal with several approvals cannot have a replacement. If it came out otherwise, the
  // submission reported that.
  if (pending.resolves !== undefined && stage.otherwise.has(entry.payload.resolves as Hash)) {
    await compareCounselor(stage, entry, pending, counselor);
    return goOn(stage, entry, patches, counselor, broken);
  }
  const waiting = await readBack(
    stage,
    entry,
    pending,
    holdersOf(await authority.writ(pending.proposal.writ_id)),
  );
  if (waiting === undefined) return goOn(stage, entry, patches, counselor, broken);
  findings.compared++;
  const isAmended = entry.payload.amended !== undefined;
  const counseled = isAmended
    ? await rerunAmended(stage, entry, pending, waiting)
    : rerun(stage, entry.payload, waiting, patches);
  if (counseled === undefined) return goOn(stage, entry, patches, counselor, broken);
  if (counseled instanceof KernelError) {
    const what = counseled.code === 'unauthorised_counselor' ? 'counselor' : 'ruling';
    if (what === 'ruling' && world.isWithout(pending.proposal.action))
      findings.takeAsRecorded('erased');
    else
      findings.differs(
        place,
        what,
        what === 'ruling' ? { ruling: 'committed' } : asOf(counselor),
        counseled.message,
      );
    return goOn(stage, entry, patches, counselor, broken);
  }
  const { as } = counseled;
  const now = counseled.vector as readonly VectorItem[];
  const excused = world.excusedIn([...recorded, ...now]);
  const known = (vector: readonly VectorItem[]) =>
    vector.filter(({ invariant_id: id }) => !excused.has(id));
  const alike = compareVectors(findings, place, known(recorded), known(now));
  const overridden = excused.size === 0 ? counseled.overridden : counselor.override === true;
  // An override belongs to the vector: it is only noted separately if the vector is the same.
  const override = alike && overridden ? { override: true } : {};
  findings.compare(place, 'counselor', alike ? asOf(counselor) : { as: counselor.as }, {
    as,
    ...override,
  });
  if (alike && pending.approved_by !== undefined)
    compareOverrides(stage, entry, counselor, pending, counseled);
  if (isAmended) compareCost(stage, entry, counseled);
  if (isSame(counseled.patches(), patches)) {
    const found = world.keepCounsel(counseled, broken);
    if (counselor.override !== true) findings.breaks(place, found);
    return;
  }
  findings.differs(place, 'delta', patches, copied(counseled.patches()));
  counseled.undo();
  goOn(stage, entry, patches, counselor, broken);
}

/**
 * Replays an approval that was not the last one: the counselor and the approved proposal must be
 * the same now. It commits nothing.
 */
export async function replayStep(
  stage: RerunContext,
  entry: Entry<PendingPayload>,
  pending: PendingPayload,
): Promise<void> {
  const { authority, findings, world } = stage;
  const { at, approved_by = [], proposal, resolves } = entry.payload;
  const counselor = approved_by.at(-1) as CounselorRecord;
  const place = placeOf(entry);
  if (stage.otherwise.has(resolves as Hash)) {
    stage.otherwise.add(entry.id);
    return compareCounselor(stage, entry, pending, counselor);
  }
  if (proposal.action.name === ERASE_ACTION) return findings.takeAsRecorded('erased');
  const waiting = await readBack(
    stage,
    entry,
    pending,
    holdersOf(await authority.writ(proposal.writ_id)),
  );
  if (waiting === undefined) return;
  findings.compared++;
  const approved = tried(() =>
    approvePending(
      world.world,
      waiting,
      { ...RECORDED, principal: counselor.principal, at },
      GRANTED,
    ),
  );
  if (approved instanceof KernelError) {
    const what = approved.code === 'unauthorised_counselor' ? 'counselor' : 'ruling';
    return findings.differs(
      place,
      what,
      what === 'ruling' ? { ruling: 'escalated' } : asOf(counselor),
      approved.message,
    );
  }
  const { as, overridden } = approved;
  findings.compare(place, 'counselor', asOf(counselor), {
    as,
    ...(overridden ? { override: true } : {}),
  });
  compareOverrides(stage, entry, counselor, pending, approved);
  approved.undo();
}

/** The recorded violations that an approver overrode must be those of now. */
function compareOverrides(
  { world, findings }: RerunContext,
  entry: Entry,
  { overridden }: CounselorRecord,
  { approved_by = [] }: PendingPayload,
  { broken }: CounselorCommit,
): void {
  if (overridden === undefined) return;
  const now = overridesOf(world.domain, approved_by, broken);
  const excused = world.excusedIn([...overridden, ...now]);
  const known = (vector: readonly VectorItem[]) =>
    vector.filter(({ invariant_id: id }) => !excused.has(id));
  compareVectors(findings, placeOf(entry), known(overridden), known(now));
}

/**
 * Replays an approval that found a conflict: the proposal must do something else than it was
 * submitted for, and the counselor must be allowed. It changes nothing.
 */
export async function replayConflict(
  stage: RerunContext,
  entry: Entry<RejectionPayload>,
  pending: PendingPayload,
): Promise<void> {
  const { authority, findings, otherwise, world } = stage;
  const { at, detail, resolves } = entry.payload;
  const counselor = entry.payload.counselor as CounselorRecord;
  await compareCounselor(stage, entry, pending, counselor);
  if (otherwise.has(resolves as Hash)) return;
  const waiting = await readBack(
    stage,
    entry,
    pending,
    holdersOf(await authority.writ(pending.proposal.writ_id)),
  );
  if (waiting === undefined) return;
  findings.compared++;
  const by = { ...RECORDED, principal: counselor.principal, at };
  const now = tried(() => approvePending(world.world, waiting, by, GRANTED));
  if (!(now instanceof KernelError)) now.undo();
  else if (now.code === 'unauthorised_counselor') return;
  else if (now.evidence['difference'] !== undefined) {
    if (now.evidence['difference'] !== detail) findings.reworded++;
    return;
  }
  if (world.isWithout(pending.proposal.action)) return findings.takeAsRecorded('erased');
  const recorded = { ruling: 'rejected', reason: 'conflict', detail };
  findings.differs(
    placeOf(entry),
    'ruling',
    recorded,
    now instanceof KernelError ? now.message : 'committed',
  );
}

/**
 * Runs the commit again as the proposal, or else as a counselor's replacement; with the refusal if
 * it is neither.
 */
function rerun(
  { world, findings, otherwise }: RerunContext,
  { at, counselor, resolves }: CommitPayload,
  waiting: PendingProposal,
  patches: readonly PatchOperation[],
): CounselorCommit | KernelError {
  const { principal } = counselor as CounselorRecord;
  const by = { ...RECORDED, principal, at };
  const asked = tried(() => approvePending(world.world, waiting, by, GRANTED));
  if (!(asked instanceof KernelError) && isSame(asked.patches(), patches)) return asked;
  if (asked instanceof KernelError && asked.code === 'unauthorised_counselor') return asked;
  if (waiting.approvals > 1) return asked;
  if (!(asked instanceof KernelError)) asked.undo();
  const own = tried(() =>
    approvePending(world.world, waiting, { ...by, replacement: copied(patches) }, GRANTED),
  );
  if (own instanceof KernelError) return own;
  // The pending proposal came out otherwise, and that was reported there. The same here indicates
  // no fault of the counselor.
  if (!otherwise.has(resolves as Hash)) findings.takeAsRecorded('counselors_own_state');
  return own;
}

/**
 * Runs an amended proposal again, with its own arguments and calls. Undefined, and noted, if it
 * cannot be read.
 */
async function rerunAmended(
  stage: RerunContext,
  entry: Entry<CommitPayload>,
  { proposal }: PendingPayload,
  waiting: PendingProposal,
): Promise<CounselorCommit | KernelError | undefined> {
  const { world, authority } = stage;
  const { action, observations, delta, at, counselor, writ_id, policy } = entry.payload;
  const asked = {
    ...action,
    action: action.name,
    observations,
    at: proposal.at,
    effects: delta.effects,
  };
  const read = await readProposal(stage, entry, asked);
  if (read === undefined) return undefined;
  const { intent, inputs } = read;
  await compareDifference(stage, entry, waiting.intent, intent);
  const claim = { place: placeOf(entry), at, writ_id, ...(policy === undefined ? {} : { policy }) };
  const answers = authority.answers(claim, await authority.writ(writ_id));
  const { principal } = counselor as CounselorRecord;
  return tried(() => {
    const amended = world.amend(
      waiting,
      { principal, at },
      { intent, calls: inputs.calls ?? [] },
      answers,
    );
    if ('outdated' in amended) throw new KernelError('changed_since', `${amended.detail}.`);
    return amended;
  });
}

/** The recorded difference follows from both actions. */
async function compareDifference(
  { findings, replayer }: RerunContext,
  entry: Entry<CommitPayload>,
  first: Intent,
  intent: Intent,
): Promise<void> {
  const { difference } = entry.payload.amended as AmendmentRecord;
  try {
    const recorded = await readValue(entry, difference, replayer);
    findings.compare(placeOf(entry), 'amendment', recorded, amendedDifference(first, intent));
  } catch (error) {
    if (!isAssizeError(error, 'erased')) throw error;
    findings.takeAsRecorded('erased');
  }
}

/** Only an amendment has another cost than the proposal. */
function compareCost(
  { findings }: RerunContext,
  entry: Entry<CommitPayload>,
  { compiled }: CounselorCommit,
): void {
  const { payload } = entry;
  findings.compare(
    placeOf(entry),
    'cost',
    payload.budget_cost,
    costWithTools(compiled.cost, payload),
  );
}

function tried(step: () => CounselorCommit): CounselorCommit | KernelError {
  try {
    return step();
  } catch (error) {
    if (isInstance(error, KernelError)) return error;
    throw error;
  }
}

async function readBack(
  stage: RerunContext,
  entry: Entry,
  pending: PendingPayload,
  requesters: readonly string[],
): Promise<PendingProposal | undefined> {
  try {
    const waiting = await readPendingProposal(pending, requesters, stage);
    // Overrides are compared at each step, where they can be excused. That the last approval
    // overrides no more is a rule of chains.
    const approvedBy = waiting.approvedBy.map(({ principal, at, override = false }) => ({
      principal,
      at,
      override,
    }));
    return { ...waiting, approvedBy };
  } catch (error) {
    if (isAssizeError(error, 'erased')) {
      stage.findings.takeAsRecorded('erased');
      return undefined;
    }
    if (!isAssizeError(error, 'observation_missing')) throw error;
    stage.findings.differs(placeOf(entry), 'observation', error.evidence, error.message);
    return undefined;
  }
}

function goOn(
  stage: RerunContext,
  entry: Entry,
  patches: readonly PatchOperation[],
  { override }: CounselorRecord,
  broken: BrokenByRecord,
): void {
  if (override === true) followed(stage, entry, patches, broken);
  else followRecord(stage, entry, patches);
}

function asOf({ as, override }: CounselorRecord) {
  return { as, ...(override === true ? { override } : {}) };
}
