/**
 * The rules of a chain by their ids, in the order of docs/reference/ledger.md, sections 5.2 to
 * 5.12. The reference states each rule in full, and verifiers/python/verify.py uses the same ids.
 */
export const RULES = {
  'place.parent': 'trajectory, seq and parent continue the chain',
  'place.first': 'a root or branch stands first, and nowhere else',
  'place.time': 'time does not go back',
  'place.answered': 'nothing follows the final answer',
  'place.halted':
    'a halted chain accepts halts, revocations, changes of the key, rejections and outcomes of effects',
  'place.signed': 'after a signed entry, the key in force signs every entry',
  'place.named':
    'if keys are named, one of them signs first, or one to which changes of the key lead',
  'key.change': 'a change of the key is signed and names another key; a first key names itself',

  'commit.parent-commit': 'parent_commit is the last commit',
  'commit.frozen': 'a frozen chain accepts the resolution, revocations, halts and settlements',
  'commit.direct': 'without a resolved entry there is no counselor and no amendment',
  'commit.proposal': 'an approval repeats the pending proposal, and has a counselor and a vector',
  'commit.channel': 'the counselor is of the requested kind',
  'commit.expired': 'an approval comes before the expiry',
  'commit.approvals': 'the commit is the last required approval, by another person',
  'commit.amended': 'an amended commit has the pending action, and other arguments or another role',

  'rejection.frozen': 'a frozen chain accepts resolutions, expiries and records of effects',
  'rejection.direct': 'without a resolved entry there is no counselor and no expiry',
  'rejection.proposal': 'the rejection repeats the intent of the pending proposal',
  'rejection.reason':
    'a pending proposal is rejected by a counselor, conflicts with later commits, or expires',
  'rejection.counselor':
    'a counselor of the requested kind rejects, or finds the conflict, before the expiry',
  'rejection.expired': 'an expiry comes at its time, without a counselor',
  'rejection.upgraded':
    'an upgrade closes a proposal that was pending before it, without a counselor',

  'pending.frozen':
    'a frozen chain accepts approvals of the freezing entry; no revocation or halt waits',
  'pending.digest': 'head, digest, effects and questions agree with the proposal',
  'pending.direct':
    'without a resolved entry there are no approvers, and deputies are of the channel and later',
  'pending.proposal': 'a further approval repeats the pending entry',
  'pending.approved-by': 'a further approval adds one approver, and is not the last',
  'pending.counselor':
    'the added approver is another person of the requested kind, before the expiry',

  'start.frozen': 'no delegation starts in a frozen chain',
  'start.members': 'a start has no result yet',
  'start.child': 'the child is new, and neither this trajectory nor its delegator',
  'delegation.begins': 'only a start has an initial state',
  'answer.origin': 'the answer names the delegation that created the trajectory',
  'answer.open': 'the answer names no head, and all delegations are concluded',
  'conclusion.start': 'the conclusion names an open delegation',
  'conclusion.task': 'child, task and writ are those of the start, and child_head is there',

  'branch.cycle': 'a branch does not start in itself',
  'branch.source': 'the source entry exists, and is valid by itself',
  'branch.time': 'the source entry is not later than the branch',
  'branch.kind': 'the source entry is a commit, root or branch',
  'branch.valid': 'the source is valid up to that entry',
  'branch.halted': 'the source is not halted at that entry',
  'branch.key':
    'the key in force at the source entry signs the branch, or a later key of the source',

  'root.start': 'the root names a start that names the root',
  'root.writ': 'the root is not older than the start, and has its writ',
  'root.begins': 'the root has the initial values of the start',
  'root.key': 'the key of the start signs the root, or a later key of the delegator',
  'start.ancestor': 'the child is not an ancestor',
  'answer.task': 'child, task and writ are those of the start',
  'conclusion.root': 'the root of the child names the start',
  'conclusion.child-head': 'child_head is the answer of the child',
  'conclusion.answer': 'the conclusion repeats the answer',
  'conclusion.time': 'the conclusion is not older than the answer',

  'erasure.form': 'the arguments are those of an erasure',
  'erasure.values': 'each erased value is salted, in an earlier entry of the trajectory',

  'revocation.form': 'the commit has the form of a revocation',
  'revocation.delegated': 'an adopted revocation comes from the delegator',
  'revocation.source': 'an adopted revocation repeats its source, and is not older',

  'upgrade.form': 'the commit has the form of an upgrade',
  'upgrade.from':
    'an upgrade continues the version in force with another version of the same domain',

  'settlement.args': 'arguments and role are those of a settlement',
  'settlement.delta': 'a settlement changes nothing, and has no cost and no ruling',
  'settlement.direct': 'a settlement without a decision settles something, with its observations',
  'settlement.decided': 'a decision settles its own effect, as decided',
  'settlement.unsettled': 'each effect is an unsettled one of its commit',
  'settlement.writ': 'the writ is that of the first commit, and of each commit with a cost',
  'settlement.pending': 'a decision resolves the pending entry of its effect',
  'effect.args': 'arguments, role and reason are those of a pending effect',
  'effect.delta': 'the pending entry has one effect, and nothing else',
  'effect.channel': 'an operator decides, and nothing is frozen',
  'effect.commit': 'the effect is an unsettled one of its commit, under the same writ',
  'effect.once': 'the effect is pending once',
  'attempt.form': 'the rejection has the form of an aborted attempt',

  'beliefs.partition': 'a commit changes each partition once',
  'beliefs.time': 'facts do not change before their commit',
  'beliefs.close': 'closed rows began before, and are closed once',
  'beliefs.insert': 'each fact has one inserted row, and audit rows have ids of their own',
  'beliefs.inherit': 'inherited rows are consistent with the change',

  'memory.own': 'a commit changes the memory of its trajectory',
  'memory.first': 'a partition of a branch begins once',
  'memory.unchanged': 'a partition that inherits nothing was unchanged in the source',
  'memory.inherited': 'a partition inherits the rows that were open in its source',

  'halt.form': 'the commit has the form of a halt',
  'halt.delegated': 'an adopted halt comes from the delegator',
  'halt.order': 'a halt and its resume take turns, and the resume says whether another halt stands',
  'halt.source': 'an adopted halt repeats its source, and is not older',
} as const satisfies Readonly<Record<string, string>>;

export type RuleId = keyof typeof RULES;

/** The rule that an entry breaks, and how. */
export interface BrokenRule {
  readonly rule: RuleId;
  readonly detail: string;
}
