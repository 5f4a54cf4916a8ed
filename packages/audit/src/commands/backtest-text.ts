import { dim, green, line, type Output, red, type Value, yellow } from '@assize/command';
import { counted, shortId } from 'assize/internal/views';
import type { BacktestReport, ChangeKind, NotJudgeable, VerdictDifference } from '#replay';

/** The combined reports of several trajectories. */
export interface BacktestSum {
  readonly trajectories: number;
  readonly judged: number;
  readonly same: number;
  readonly different: number;
  readonly changes: { readonly [Kind in ChangeKind]?: number };
  readonly not_judgeable: { readonly [Why in NotJudgeable]?: number };
  readonly resolutions: number;
  readonly moot_resolutions: number;
  readonly assumed: number;
}

export function backtestSum(reports: readonly BacktestReport[]): BacktestSum {
  const sum = (of: (report: BacktestReport) => number): number =>
    reports.reduce((total, one) => total + of(one), 0);
  return {
    trajectories: reports.length,
    judged: sum(({ judged }) => judged),
    same: sum(({ same }) => same),
    different: sum(({ difference_count }) => difference_count),
    changes: added(reports.map(({ changes }) => changes)),
    not_judgeable: added(reports.map(({ not_judgeable }) => not_judgeable)),
    resolutions: sum(({ resolutions }) => resolutions),
    moot_resolutions: sum(({ moot_resolutions }) => moot_resolutions),
    assumed: sum(({ assumed }) => assumed),
  };
}

function added<Key extends string>(
  counts: readonly { readonly [K in Key]?: number }[],
): { [K in Key]?: number } {
  const total: { [K in Key]?: number } = {};
  for (const [key, n] of counts.flatMap((one) => Object.entries(one) as [Key, number][]))
    total[key] = (total[key] ?? 0) + n;
  return total;
}

export function printBacktest(
  out: Output,
  reports: readonly BacktestReport[],
  sum: BacktestSum,
  differences: readonly VerdictDifference[] = reports.flatMap((report) => report.differences),
): void {
  if (differences.length > 0) {
    out.table(
      [
        { title: 'entry' },
        { title: 'action' },
        { title: 'was ruled' },
        { title: 'would be ruled' },
        { title: 'why' },
      ],
      differences.map((difference) => [
        `${difference.trajectory_id}@${difference.seq}`,
        difference.action,
        rulingOf(difference.recorded, difference.now),
        painted(difference.now, difference.recorded),
        whyOf(difference),
      ]),
    );
    if (sum.different > differences.length)
      out.line(dim(`… and ${sum.different - differences.length} more.`));
    out.line(line``);
  }
  for (const tried of new Set(reports.map(triedOf))) out.line(line`Tried: ${tried}.`);
  const words = `${counted(sum.judged, 'proposal')} adjudicated: ${sum.same} the same, ${sum.different} different`;
  const kinds = listed(sum.changes, (kind, n) => `${n} ${kind.replace('_to_', ' → ')}`);
  const all = kinds === '' ? `${words}.` : `${words} (${kinds}).`;
  out.line(sum.different === 0 ? green(all) : red(all));
  if (sum.resolutions > 0) {
    const moot =
      sum.moot_resolutions === 0
        ? ''
        : `; ${sum.moot_resolutions} of them would not have been needed`;
    out.line(
      line`Not adjudicated: ${counted(sum.resolutions, 'human decision')} on pending proposals${moot}.`,
    );
  }
  const lacking = listed(sum.not_judgeable, (why, n) => `${n} ${WHY[why]}`);
  if (lacking !== '') out.line(yellow(`Cannot be adjudicated: ${lacking}.`));
}

const WHY: Readonly<Record<NotJudgeable, string>> = {
  erased: 'with an erased value',
  observation: 'with a missing observation',
  writ: 'with a writ that is not in the ledger',
  upgrade: 'that are upgrades of the domain',
  beliefs: 'that depend on earlier facts',
  other: 'with effects or conflicts',
};

function listed<Key extends string>(
  counts: { readonly [K in Key]?: number },
  text: (key: Key, n: number) => string,
): string {
  return (Object.entries(counts) as [Key, number][]).map(([key, n]) => text(key, n)).join(', ');
}

type Ruled = VerdictDifference['now'];

/** `rejected (BUDGET_CAP)`, `rejected (policy_denied: cap)`, `escalated (LARGE) to 2 × manager`. */
function rulingOf(ruled: Ruled, other: Ruled): string {
  const { ruling, reason, invariant_id, rule } = ruled;
  const by = invariant_id ?? (rule === undefined ? reason : `${reason}: ${rule}`);
  return `${ruling}${by === undefined ? '' : ` (${by})`}${toWhom(ruled, other)}`;
}

/** The required approvers, if there are several, or if they differ. */
function toWhom({ channel, approvals }: Ruled, other: Ruled): string {
  if (channel === undefined) return '';
  const differs =
    other['channel'] !== undefined &&
    (other['channel'] !== channel || other['approvals'] !== approvals);
  return differs || approvals !== 1 ? ` to ${approvals} × ${channel}` : '';
}

function painted(ruled: Ruled, other: Ruled): Value {
  const paint = { committed: green, rejected: red, escalated: yellow }[
    ruled['ruling'] as 'committed'
  ];
  return paint(rulingOf(ruled, other));
}

function whyOf({ recorded, now, resolved, writ_assumed }: VerdictDifference): string {
  return [
    now['detail'] ??
      (recorded['detail'] === undefined ? undefined : `no longer: ${recorded['detail']}`),
    resolved &&
      `the decision of seq ${resolved.seq} (${resolved.ruling}) would not have been needed`,
    writ_assumed && 'if its writ grants it',
  ]
    .filter((text) => text !== undefined)
    .join('; ');
}

/** The tested rules, in a trajectory of that domain. */
function triedOf({ domain, recorded_domain, policy }: BacktestReport): string {
  const parts = [
    policy && `the policy ${policy.id} (${shortId(policy.digest)})`,
    domain.hash === recorded_domain.hash
      ? undefined
      : `${domain.name}@${domain.version} (${shortId(domain.hash)}) for ${recorded_domain.version} (${shortId(recorded_domain.hash)})`,
  ].filter((text) => text !== undefined);
  return parts.length === 0
    ? `only the recorded ${domain.name}@${domain.version}`
    : parts.join(', and ');
}
