import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

// The faults that tests/properties must find, each as a change of the source.

export const root = resolve(import.meta.dirname, '../..');

export const sourceOf = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The source with the fault in it. */
export function planted(
  fault: string,
  { file, changes }: Pick<Mutant, 'file' | 'changes'>,
): string {
  let text = sourceOf(`packages/assize/src/${file}`);
  for (const [from, to] of changes) {
    const count = text.split(from).length - 1;
    if (count !== 1)
      throw new Error(
        `The mutant that ${fault} no longer fits ${file}: ${JSON.stringify(from)} is there ${count} times.`,
      );
    text = text.replace(from, () => to);
  }
  return text;
}

export interface Mutant {
  /** The fault, and the file it is in. */
  readonly fault: string;
  readonly file: string;
  /** Strings of the source, each present once, and their replacements. */
  readonly changes: readonly (readonly [from: string, to: string])[];
  /** Another file with a part of the fault. It would report the first part. */
  readonly also?: Pick<Mutant, 'file' | 'changes'>;
  /** The file of properties, and the one of them that must find it, by how it begins. */
  readonly by: keyof typeof PROPERTIES;
  readonly property: string;
}

/**
 * Number of cases that each file needs for the mutants below, with the seed below. More cases would
 * only take longer.
 */
export const PROPERTIES = {
  changes: 100,
  evaluation: 900,
  follow: 300,
  theorems: 120,
  freeze: 100,
  'frozen-footprint': 800,
  reservations: 1_200,
  footprints: 200,
  schema: 200,
  precondition: 1_000,
  memory: 1_200,
  halt: 60,
  calls: 400,
  'policy-calls': 200,
  upgrades: 100,
  overrides: 600,
  amendments: 200,
  'mixed-schedules': 500,
};

export const MUTANTS: readonly Mutant[] = [
  {
    fault: 'lets approvals through on a halted trajectory',
    file: 'runtime/approve/pending/resolve.ts',
    changes: [
      ['if (!undelayed) writer.refuseIfHalted();\n    const step', 'const step'],
      ['if (!undelayed) writer.refuseIfHalted();\n      const pending', 'const pending'],
    ],
    by: 'halt',
    property: 'no work is taken between a halt and its resume',
  },
  {
    fault: 'skips an invariant',
    file: 'kernel/judge/incremental-check.ts',
    changes: [
      [
        'if (places === undefined) continue;',
        'if (places === undefined || rule.index === 1) continue;',
      ],
    ],
    by: 'evaluation',
    property: 'checking a change’s rules equals checking all, also from broken states',
  },
  {
    fault: 'walks the invariants in the wrong order',
    file: 'kernel/judge/incremental-check.ts',
    changes: [
      [
        'for (const rule of this.#domain.rules) {\n      const places',
        'for (const rule of [...this.#domain.rules].reverse()) {\n      const places',
      ],
    ],
    by: 'evaluation',
    property: 'checking a change’s rules equals checking all, also from broken states',
  },
  {
    fault: 'takes the members of a rule as they come',
    file: 'kernel/state/members.ts',
    changes: [['[...this.#all.values()].sort(byKeys)', '[...this.#all.values()].reverse()']],
    by: 'evaluation',
    property: 'checking a change’s rules equals checking all, also from broken states',
  },
  {
    fault: 'forgets what did not pass before',
    file: 'kernel/judge/incremental-check.ts',
    changes: [
      ['for (const { rule, keys } of this.failing.values()) work.judgeAt(rule, keys);', ''],
    ],
    by: 'evaluation',
    property: 'checking a change’s rules equals checking all, also from broken states',
  },
  {
    fault: 'drops the index of what members are judged with',
    file: 'kernel/judge/incremental-check.ts',
    changes: [
      [
        'of this.#dependents)\n        dependents.match(',
        'of [])\n        (dependents as any).match(',
      ],
    ],
    by: 'evaluation',
    property: 'checking a change’s rules equals checking all, also from broken states',
  },
  {
    fault: 'does not move that index when a change is kept',
    file: 'kernel/judge/incremental-check.ts',
    changes: [
      [
        'for (const { rule, place, others } of restatements)',
        'for (const { rule, place, others } of [] as Restatement[])',
      ],
    ],
    by: 'evaluation',
    property: 'checking a change’s rules equals checking all, also from broken states',
  },
  {
    fault: 'lets pass what can’t be judged',
    file: 'kernel/judge/check-rule.ts',
    changes: [
      [
        'const what = isInstance(error, FootprintFault)',
        'if (error !== undefined) return { result: pass, others: [] };\n    const what = isInstance(error, FootprintFault)',
      ],
    ],
    by: 'theorems',
    property: 'Theorem 1 (',
  },
  {
    fault: 'does not look at what is beside a change',
    file: 'kernel/judge/incremental-check.ts',
    changes: [
      [
        'parent === before && parent.length >= deepest',
        'parent === before && parent.length >= deepest - 1',
      ],
    ],
    by: 'evaluation',
    property: 'checking a change’s rules equals checking all, also from broken states',
  },
  {
    fault: 'takes the length of a list for a member',
    file: 'kernel/state/view.ts',
    changes: [[' && (!Array.isArray(container) || isIndex(key))', '']],
    by: 'evaluation',
    property: 'checking a change’s rules equals checking all, also from broken states',
  },
  {
    fault: 'excuses, the naive way, what a change touches',
    file: 'kernel/judge/incremental-check.ts',
    changes: [['this.#excused.has(key) && !touched.has(key)', 'this.#excused.has(key)']],
    by: 'evaluation',
    property: 'strict',
  },
  {
    fault: 'counts nothing again when a change is kept',
    file: 'kernel/judge/incremental-check.ts',
    changes: [['        work.keepCounts();\n      },', '      },']],
    by: 'evaluation',
    property: 'checking a change’s rules equals checking all, also from broken states',
  },
  {
    fault: 'counts what a refused change would have made',
    file: 'kernel/judge/incremental-check.ts',
    changes: [
      [
        'const places = work.places[rule.index];',
        'const places = work.places[rule.index];\n      if (rule.index === 0) work.keepCounts();',
      ],
    ],
    by: 'evaluation',
    property: 'checking a change’s rules equals checking all, also from broken states',
  },
  {
    fault: 'goes on counting members whose collection is gone',
    file: 'kernel/judge/incremental-check.ts',
    changes: [['if (path.length < pattern.segments.length)', 'if (path.length < 0)']],
    by: 'follow',
    property: 'a state that follows changes knows failures as if all rules were checked',
  },
  {
    fault: 'leaves a member in the group that it was in',
    file: 'kernel/judge/aggregates.ts',
    changes: [['this.#groups.set(before.group, less(this.group(before.group), before));', '']],
    by: 'evaluation',
    property: 'checking a change’s rules equals checking all, also from broken states',
  },
  {
    fault: 'judges only the group that a member comes into',
    file: 'kernel/judge/aggregates.ts',
    changes: [['      touched(before.group);\n', '']],
    by: 'evaluation',
    property: 'checking a change’s rules equals checking all, also from broken states',
  },
  {
    fault: 'adds numbers that are no longer exact',
    file: 'kernel/judge/aggregates.ts',
    changes: [
      [
        'if (Number.isSafeInteger(total)) return total;',
        'if (Number.isFinite(total)) return total;',
      ],
    ],
    by: 'evaluation',
    property: 'checking a change’s rules equals checking all, also from broken states',
  },
  {
    fault: 'counts without those that can’t be counted',
    file: 'kernel/judge/aggregates.ts',
    changes: [
      ['if (unfit.size === 0) return undefined;', 'if (unfit.size >= 0) return undefined;'],
    ],
    by: 'evaluation',
    property: 'checking a change’s rules equals checking all, also from broken states',
  },
  {
    fault: 'does not forget that a member could not be counted',
    file: 'kernel/judge/aggregates.ts',
    changes: [['else this.#unfit.delete(name);\n      touched', 'touched']],
    by: 'evaluation',
    property: 'checking a change’s rules equals checking all, also from broken states',
  },
  {
    fault: 'takes a member for unchanged whose amount alone is another',
    file: 'kernel/judge/aggregates.ts',
    changes: [['by === before && amount === row?.[this.slot * 2 + 1]', 'by === before']],
    by: 'evaluation',
    property: 'checking a change’s rules equals checking all, also from broken states',
  },
  {
    fault: 'judges the naive way only what did not pass',
    file: 'kernel/judge/full-check.ts',
    changes: [["if (result.result !== 'pass') yield", "if (result.result === 'reject') yield"]],
    by: 'evaluation',
    property: 'strict',
  },
  {
    fault: 'judges the state before the change',
    file: 'kernel/judge/adjudicate.ts',
    changes: [
      [
        'const candidate = candidateOf(',
        'const before = structuredClone(world.state);\n  const candidate = candidateOf(',
      ],
      ['return judged({ world, compiled', 'return judged({ before, world, compiled'],
      [
        'checkChanges(draft.state, changes, calls.all)',
        'checkChanges((candidate as any).before, changes, calls.all)',
      ],
    ],
    by: 'theorems',
    property: 'Theorem 1 (',
  },
  {
    fault: 'does not undo what was refused',
    file: 'kernel/judge/world.ts',
    changes: [['draft.undo();', '']],
    by: 'theorems',
    property: 'Theorem 1 (',
  },
  {
    fault: 'undoes lists without their length',
    file: 'kernel/state/draft.ts',
    changes: [
      [
        "container.length = (old.get('length') as number | undefined) ?? container.length;",
        'container.length;',
      ],
    ],
    by: 'changes',
    property: 'restores the state',
  },
  {
    fault: 'changes a shared state in place',
    file: 'kernel/state/draft.ts',
    changes: [
      [
        'if (owned === undefined || owned.has(this.value)) return;',
        'if (owned !== undefined || owned === undefined) return;',
      ],
    ],
    by: 'changes',
    property: 'is never changed; its copy follows all kept and undone drafts',
  },
  {
    fault: 'lets a draft be written to after its time',
    file: 'kernel/state/draft.ts',
    changes: [['root.ended = true;', '']],
    by: 'theorems',
    property: 'Theorem 1 (',
  },
  {
    fault: 'records arguments that the action has changed',
    file: 'kernel/judge/compile.ts',
    changes: [['{ args: deepFreeze(copyJson(parsed.data)) }', '{ args: copyJson(parsed.data) }']],
    by: 'theorems',
    property: 'Theorem 2 (Audit Log Integrity): (i) ',
  },
  {
    fault: 'replaces whole what changed inside',
    file: 'kernel/state/changes.ts',
    changes: [
      [
        'isContainer(was) && isContainer(now) && Array.isArray(was) === Array.isArray(now)',
        'false as boolean',
      ],
    ],
    by: 'changes',
    property: 'are the naive difference of the two states, after any operations',
  },
  {
    fault: 'writes to what may only be read',
    file: 'kernel/judge/candidate.ts',
    changes: [
      [
        'changeOutside(compiled.binding.writes, changes)',
        'changeOutside([...compiled.binding.reads, ...compiled.binding.writes], changes)',
      ],
    ],
    by: 'footprints',
    property: 'changes only paths that its footprint permits, or nothing',
  },
  {
    fault: 'shows a plain value whose inside alone is in the footprint',
    file: 'kernel/state/slice.ts',
    changes: [['return scope.all ? (value as Json) : undefined;', 'return value as Json;']],
    by: 'footprints',
    property: 'has exactly',
  },
  {
    fault: 'lets members be removed that must be there',
    file: 'kernel/domain/schema.ts',
    changes: [
      [
        "if (op !== 'remove')\n",
        "if (op === 'remove') return undefined;\n  if (op !== 'remove')\n",
      ],
    ],
    by: 'schema',
    property: 'for any action on it',
  },
  {
    fault: 'freezes only what the action itself touches',
    file: 'kernel/judge/adjudicate.ts',
    changes: [['    ...checks.readBy(draft.state, changes, calls),\n', '']],
    by: 'freeze',
    property: 'unrelated proposals',
  },
  {
    fault: 'does not judge again after a counselor',
    file: 'kernel/judge/approve.ts',
    changes: [['world.checks.restart(world.state);', '']],
    by: 'evaluation',
    property: 'checking a change’s rules equals checking all, also from broken states',
  },
  {
    fault: 'takes anybody for a counselor',
    file: 'kernel/judge/channel.ts',
    changes: [['return is === true;', 'return is !== null;']],
    by: 'theorems',
    property: 'Theorem 4 (Extended Audit Log Integrity): (vi) ',
  },
  {
    fault: 'lets those who asked approve it',
    file: 'kernel/judge/channel.ts',
    changes: [['requesters.find((one) => isSamePrincipal(one, principal))', 'requesters[99]']],
    by: 'theorems',
    property: 'Theorem 4 (Extended Audit Log Integrity): (vi) ',
  },
  {
    fault: 'commits broken states without override',
    file: 'kernel/judge/approve.ts',
    changes: [
      [
        'checkOverride(world.domain, waiting, counselor, { broken, overrides, advice });',
        'if (broken.length > 99) checkOverride(world.domain, waiting, counselor, { broken, overrides, advice });',
      ],
    ],
    by: 'theorems',
    property: 'Theorem 4 (Extended Audit Log Integrity): (vi) ',
  },
  {
    fault: 'appends twice',
    file: 'runtime/propose/until-ruled.ts',
    changes: [
      [
        'const ruled = rule(ports, calling, {',
        'void writer.commit(rule(ports, gathered) as never);\n    const ruled = rule(ports, calling, {',
      ],
    ],
    by: 'theorems',
    property: 'Theorem 2 (Audit Log Integrity): (iii) ',
  },
  {
    fault: 'forgets the freeze',
    file: 'runtime/writer/freeze/freeze.ts',
    changes: [
      [
        'if (chain.open.size === 0) return undefined;\n  const { reads',
        'if (chain.open.size >= 0) return undefined;\n  const { reads',
      ],
    ],
    by: 'theorems',
    property: 'Lemma A.65',
  },
  {
    fault: 'overlooks what is committed while it reads what was',
    file: 'runtime/propose/precondition.ts',
    changes: [
      [
        'of this.#writer.recentCommits.since(this))\n',
        'of [...this.#writer.recentCommits.since(this)].slice(0, 0))\n',
      ],
    ],
    by: 'precondition',
    property: 'refused exactly when',
  },
  {
    fault: 'refuses for what was never written',
    file: 'runtime/propose/precondition.ts',
    changes: [['    return found;\n', '    this.#found = found;\n    return found;\n']],
    by: 'precondition',
    property: 'refused exactly when',
  },
  {
    fault: 'lets an override commit a violation of a final rule',
    file: 'kernel/judge/approve.ts',
    changes: [
      [
        'if (finals.length > 0) throw finalError(finals',
        'if (finals.length > 99) throw finalError(finals',
      ],
    ],
    by: 'overrides',
    property: 'every approver overrides the same violations',
  },
  {
    fault: 'does not ask the second approver for the override of the first',
    file: 'kernel/judge/approve.ts',
    changes: [['if (!isOverride(waiting, broken)) return;', 'if (broken.length === 0) return;']],
    by: 'overrides',
    property: 'every approver overrides the same violations',
  },
  {
    fault: 'lets one approver override what the others approved without',
    file: 'kernel/judge/approve.ts',
    changes: [['approvedBy.find((one) => one.override !== true)', 'approvedBy.find(() => false)']],
    by: 'overrides',
    property: 'every approver overrides the same violations',
  },
  {
    fault: 'marks the state with the last approver only',
    file: 'kernel/judge/approve.ts',
    changes: [
      [
        'approvedBy.map((one) => ({ counselor: one.principal, at: one.at }))',
        '[].slice(approvedBy.length)',
      ],
    ],
    by: 'overrides',
    property: 'every approver overrides the same violations',
  },
  {
    fault: 'lets an approval change what another one freezes',
    file: 'runtime/approve/decide/decide-approval.ts',
    changes: [['checkOthers(chain, world.domain, pendingId, commit.changes, at);', '']],
    by: 'frozen-footprint',
    property: 'an approval finds its frozen footprint unchanged; nothing else stops it',
  },
  {
    fault: 'ignores a reservation',
    file: 'runtime/writer/freeze/freeze.ts',
    changes: [
      [
        'reservations.near({ chain, domain, world }, changes, at);',
        'reservations.near({ chain, domain, world }, changes, at) && [];',
      ],
    ],
    by: 'reservations',
    property: 'others go on beside pending proposals',
  },
  {
    fault: 'judges only with all reservations',
    file: 'kernel/judge/reservations.ts',
    changes: [['if (waiting.length === 1) return', 'if (waiting.length >= 1) return']],
    by: 'reservations',
    property: 'others go on beside pending proposals',
  },
  {
    fault: 'lets a reserved member be changed',
    file: 'runtime/writer/freeze/freeze.ts',
    changes: [['.first(places, [], at)', '.first([], [], at)']],
    by: 'reservations',
    property: 'others go on beside pending proposals',
  },
  {
    fault: 'upgrades without checking the rules of the new version',
    file: 'kernel/judge/upgrade.ts',
    changes: [
      ['  const [broken] = after.failing;', '  const [broken] = after.failing.slice(0, 0);'],
    ],
    by: 'upgrades',
    property: 'an upgrade commits if every rule of the new version passes',
  },
  {
    fault: 'keeps a refused migration in the state',
    file: 'kernel/judge/upgrade.ts',
    changes: [["if (upgraded.verdict === 'rejected') world.rollback(draft);", '']],
    by: 'upgrades',
    property: 'an upgrade commits if every rule of the new version passes',
  },
  {
    fault: 'forgets what is left before a part that is taken',
    file: 'memory/period.ts',
    changes: [['if (other.from > from) left.push({ from, to: other.from });', '']],
    by: 'memory',
    property: 'has leftovers',
  },
  {
    fault: 'believes the less sure',
    file: 'memory/strategy.ts',
    changes: [['? a.confidence - b.confidence', '? b.confidence - a.confidence']],
    by: 'memory',
    property: 'matches a model of cells at each point of both times, and keeps losers',
  },
  {
    fault: 'leaves ties to the order of a batch',
    file: 'memory/strategy.ts',
    changes: [
      [
        '|| a.assertedSeq - b.assertedSeq || compare(a.claim, b.claim)',
        '|| a.assertedSeq - b.assertedSeq',
      ],
    ],
    by: 'memory',
    property: 'has the same plan',
  },
  {
    fault: 'keys validity on what is left of it',
    file: 'memory/settle.ts',
    changes: [['asserted_from: assertedFrom } = row;', 'valid_from: assertedFrom } = row;']],
    by: 'memory',
    property: 'matches a model of cells at each point of both times, and keeps losers',
  },
  {
    fault: 'takes an end for a part of its period',
    file: 'memory/period.ts',
    changes: [
      ['return from <= instant && instant < to;', 'return from <= instant && instant <= to;'],
    ],
    by: 'memory',
    property: 'matches a model of cells at each point of both times, and keeps losers',
  },
  {
    fault: 'lets losers keep what should be dropped',
    file: 'memory/settle.ts',
    changes: [["remainder === 'keep' ? uncontested", 'remainder !== undefined ? uncontested']],
    by: 'memory',
    property: 'matches a model of cells at each point of both times, and keeps losers',
  },
  {
    fault: 'joins what is said with different confidence',
    file: 'memory/settle.ts',
    changes: [[' || a.confidence !== b.confidence', '']],
    by: 'memory',
    property: 'matches a model of cells at each point of both times, and keeps losers',
  },
  {
    fault: 'joins what other claims say',
    file: 'memory/settle.ts',
    changes: [
      [
        'a.head !== b.head || a.confidence !== b.confidence || a.provenance !== b.provenance',
        'a.confidence !== b.confidence',
      ],
    ],
    by: 'memory',
    property: 'matches a model of cells at each point of both times, and keeps losers',
  },
  {
    fault: 'takes the first member for the one elected',
    file: 'memory/settle.ts',
    changes: [
      [
        'const group = groups.find(({ items }) => items.some(({ row }) => row.lineage === winner));',
        "const group = winner === '' ? undefined : groups[0];",
      ],
    ],
    by: 'memory',
    property: 'matches a model of cells at each point of both times, and keeps losers',
  },
  {
    fault: 'names what is confirmed by who confirms it',
    file: 'memory/settle.ts',
    changes: [
      ["ordered[0]!.isNew || strategy === 'lww-valid' ? best", 'strategy !== undefined ? best'],
    ],
    by: 'memory',
    property: 'matches a model of cells at each point of both times, and keeps losers',
  },
  {
    fault: 'gives a confirmed fact the border of its first claim',
    file: 'memory/settle.ts',
    changes: [[" || strategy === 'lww-valid' ? best", ' ? best']],
    by: 'memory',
    property: 'by valid time believes the same after any order of the same claims',
  },
  {
    fault: 'joins what rests on other claims',
    file: 'memory/settle.ts',
    changes: [[' || a.provenance !== b.provenance', '']],
    by: 'memory',
    property: 'matches a model of cells at each point of both times, and keeps losers',
  },
  {
    fault: 'asks about members in the order in which they come',
    file: 'memory/question.ts',
    changes: [
      [
        'const ordered = [...members].sort((a, b) => compare(a.claim, b.claim));',
        'const ordered = [...members];',
      ],
    ],
    by: 'memory',
    property: 'matches a model of cells at each point of both times, and keeps losers',
  },
  {
    fault: 'sums the provenance of losers alone',
    file: 'memory/audit.ts',
    changes: [
      ['merge(chosen, mergedProvenance(losers, merge))', 'mergedProvenance(losers, merge)'],
    ],
    by: 'memory',
    property: 'matches a model of cells at each point of both times, and keeps losers',
  },
  {
    fault: 'audits one loser of several',
    file: 'memory/audit.ts',
    changes: [['return losers.map((loser) => {', 'return losers.slice(0, 1).map((loser) => {']],
    by: 'memory',
    property: 'matches a model of cells at each point of both times, and keeps losers',
  },
  {
    fault: 'audits more than was contested',
    file: 'memory/audit.ts',
    changes: [['      valid_from: segment.from,\n', '']],
    by: 'memory',
    property: 'matches a model of cells at each point of both times, and keeps losers',
  },
  {
    fault: 'closes in the tick of the change before',
    file: 'memory/plan.ts',
    changes: [['? at : addMicros(latest, 1)', '? at : addMicros(latest, 0)']],
    by: 'memory',
    property: 'matches a model of cells at each point of both times, and keeps losers',
  },
  {
    fault: 'takes what is left over for said again',
    file: 'memory/plan.ts',
    changes: [
      [
        '      fact_id: names.of(row),\n',
        '      fact_id: names.of(row),\n      asserted_seq: this.#seq,\n',
      ],
    ],
    by: 'memory',
    property: 'matches a model of cells at each point of both times, and keeps losers',
  },
  {
    fault: 'withdraws what was not named',
    file: 'memory/plan.ts',
    changes: [['key === undefined || objectKey(row.object) === key', "key !== ''"]],
    by: 'memory',
    property: 'matches a model of cells at each point of both times, and keeps losers',
  },
  {
    fault: 'corrects where what was wrong was not recorded',
    file: 'memory/plan.ts',
    changes: [
      ['was === undefined ? asserted.parts : wrong', 'wrong === undefined ? [] : asserted.parts'],
    ],
    by: 'memory',
    property: 'matches a model of cells at each point of both times, and keeps losers',
  },
  {
    fault: 'gives two pieces of a fact one id',
    file: 'memory/plan.ts',
    changes: [['if (!this.#taken.has(fact_id)) {', "if (fact_id !== '') {"]],
    by: 'memory',
    property: 'matches a model of cells at each point of both times, and keeps losers',
  },
  {
    fault: 'closes what loses nothing',
    file: 'memory/plan.ts',
    changes: [
      [
        'const close = open.map(({ row }) => row).filter((row) => !stay.has(row))',
        'const close = open.map(({ row }) => row)',
      ],
    ],
    by: 'memory',
    property: 'matches a model of cells at each point of both times, and keeps losers',
  },
  {
    fault: 'makes calls that were planned for another state',
    file: 'kernel/judge/calls.ts',
    changes: [
      [
        'if (missing !== undefined || left.some(({ isDeclared }) => isDeclared === true))',
        'if (left.length > 1_000)',
      ],
    ],
    by: 'calls',
    property: 'the bank pays exactly what committed actions declare',
  },
  {
    fault: 'keeps the calls of the first proposal in an amendment',
    file: 'runtime/approve/decide/amended-proposal.ts',
    changes: [
      [
        'return plannedCalls(world, intent, authority',
        'return plannedCalls(world, waiting.intent, authority',
      ],
    ],
    also: {
      file: 'runtime/approve/decide/decide-amendment.ts',
      changes: [
        ['amendPending,\n', 'amendPending,\n  plannedCalls,\n'],
        [
          'calls: plan?.calls ?? NO_CALLS',
          'calls: plannedCalls(world, intent, own, waiting.inputs).map((one) => ({ ...one, isDeclared: true as const }))',
        ],
      ],
    },
    by: 'amendments',
    property: 'an amendment commits what proposing and approving its arguments commit',
  },
  {
    fault: 'leaves the calls out of a pending proposal and its digest',
    file: 'runtime/records/entry-payloads.ts',
    changes: [
      [
        'deltaOf(escalated.patches, kept, { effects: gathered.commitPlan?.effects })',
        'deltaOf(escalated.patches, kept, {})',
      ],
    ],
    by: 'calls',
    property: 'the bank pays exactly what committed actions declare',
  },
  {
    fault: 'lets calls pass that no rule judges',
    file: 'kernel/judge/calls.ts',
    changes: [["domain.unjudgedCalls === 'allow' ? undefined", 'domain !== undefined ? undefined']],
    by: 'calls',
    property: 'the bank pays exactly what committed actions declare',
  },
  {
    fault: 'asks the policy without the calls of the action',
    file: 'kernel/judge/compile.ts',
    changes: [['    ...(calls.length > 0 && { calls }),\n', '']],
    by: 'policy-calls',
    property: 'the bank pays what the table allows',
  },
  {
    fault: 'asks the policy without the calls of the transaction body',
    file: 'kernel/judge/compile.ts',
    changes: [['decides(calls.length === 0 ? asked : { ...asked, calls })', 'decides(asked)']],
    by: 'policy-calls',
    property: 'the bank pays what the table allows',
  },
  {
    fault: 'asks the policy of an amendment without its calls',
    file: 'kernel/judge/amend.ts',
    changes: [
      ['decidedWithCalls(uncalled, all, authority)', 'decidedWithCalls(uncalled, [], authority)'],
    ],
    by: 'policy-calls',
    property: 'the bank pays what the table allows',
  },
  {
    fault: 'ignores the calls of a row',
    file: 'authority/rule-table.ts',
    changes: [
      [
        'if (holds !== true || row.calls === undefined) return holds;',
        'if (holds !== null) return holds;',
      ],
    ],
    by: 'policy-calls',
    property: 'a table decides on calls',
  },
  {
    fault: 'lets an allow row grant a call that it does not match',
    file: 'authority/call-patterns.ts',
    changes: [
      ["(effect !== 'allow' || matching === calls.length)", "(effect !== 'allow' || matching > 0)"],
    ],
    by: 'policy-calls',
    property: 'a table decides on calls',
  },
  {
    fault: 'stops at the first call that matches',
    file: 'authority/call-patterns.ts',
    changes: [
      [
        'if (matches) matching++;',
        "if (matches && effect !== 'allow') return true;\n      if (matches) matching++;",
      ],
    ],
    by: 'policy-calls',
    property: 'a table decides on calls',
  },
  {
    fault: 'leaves the calls out of what a digest binds',
    file: 'runtime/records/entry-payloads.ts',
    changes: [
      [
        'return contentHash(proposal);',
        'return contentHash({ ...proposal, delta: proposal.delta.state });',
      ],
    ],
    also: {
      file: 'ledger/rules/chain.ts',
      changes: [
        [
          'contentHash(proposal) !== payload.digest',
          'contentHash({ ...proposal, delta: proposal.delta.state }) !== payload.digest',
        ],
      ],
    },
    by: 'mixed-schedules',
    property: 'a digest binds the calls',
  },
  {
    fault: 'makes the calls of the first proposal after an amendment',
    file: 'runtime/approve/decide/amended-proposal.ts',
    changes: [
      [
        'return plannedCalls(world, intent, authority',
        'return plannedCalls(world, waiting.intent, authority',
      ],
    ],
    also: {
      file: 'runtime/approve/decide/decide-amendment.ts',
      changes: [
        ['amendPending,\n', 'amendPending,\n  plannedCalls,\n'],
        [
          'calls: plan?.calls ?? NO_CALLS',
          'calls: plannedCalls(world, intent, own, waiting.inputs).map((one) => ({ ...one, isDeclared: true as const }))',
        ],
      ],
    },
    by: 'mixed-schedules',
    property: 'Theorem 4: (vi)',
  },
  {
    fault: 'lets proposals pass beside a reservation',
    file: 'runtime/writer/freeze/freeze.ts',
    changes: [
      [
        'reservations.near({ chain, domain, world }, changes, at);',
        'reservations.near({ chain, domain, world }, changes, at) && [];',
      ],
    ],
    by: 'mixed-schedules',
    property: 'Lemmas A.48, A.49',
  },
  {
    fault: 'upgrades to a version whose rules the state breaks',
    file: 'kernel/judge/upgrade.ts',
    changes: [
      ['  const [broken] = after.failing;', '  const [broken] = after.failing.slice(0, 0);'],
      [
        'vector: after.vector(),',
        "vector: next.rules.map(({ id }) => ({ invariant_id: id, result: 'pass' as const })),",
      ],
    ],
    by: 'mixed-schedules',
    property: 'Theorems 1 and 1+',
  },
  {
    fault: 'keeps open what an upgrade must close',
    file: 'runtime/upgrade/upgrade.ts',
    changes: [['return detail === undefined\n', 'return detail !== undefined\n']],
    by: 'mixed-schedules',
    property: 'an upgrade carries',
  },
  {
    fault: 'forgets keys at an upgrade',
    file: 'runtime/upgrade/upgrade.ts',
    changes: [
      [
        'domain: next, world: judged.world }',
        'domain: next, world: judged.world, requests: { addEntry() {}, seqOf: () => undefined } as never }',
      ],
    ],
    by: 'mixed-schedules',
    property: 'Lemmas A.48, A.49',
  },
  {
    fault: 'forgets keys where a branch begins',
    file: 'runtime/writer/known/source-rulings.ts',
    changes: [['if (seq === undefined) continue;', 'if (seq !== -1) continue;']],
    by: 'mixed-schedules',
    property: 'Lemmas A.48, A.49',
  },
  {
    fault: 'lets proposals through on a halted trajectory',
    file: 'runtime/writer/writer.ts',
    changes: [
      [
        'if (halted !== undefined) throw haltedError(this.id, halted);',
        'if (halted === null) throw haltedError(this.id, halted);',
      ],
    ],
    also: {
      file: 'ledger/entry/system-actions.ts',
      changes: [
        [
          'return isHalt(payload) || isRevocation(payload) || isSettlement(payload);',
          'return true;',
        ],
      ],
    },
    by: 'mixed-schedules',
    property: 'a halted trajectory takes no work',
  },
];
