import {
  entryAt,
  everyDomain,
  green,
  line,
  type Output,
  red,
  type Session,
  shortJson,
  watchedStore,
} from '@assize/command';
import type { Json } from 'assize/internal/base';
import type { Domain } from 'assize/internal/kernel';
import type { Store } from 'assize/internal/stores';
import { counted, readable, shortId } from 'assize/internal/views';
import { type DeepReplayReport, type Difference, deepReplayStore, domainToRun } from '#replay';

/** Maximum number of shown characters of a value on its own line. */
const SHOWN_MAX = 200;

export interface DeepOptions {
  readonly domain: readonly string[];
  readonly changedDomain?: boolean;
}

/** The domains and options of a deep replay. */
export interface Domains {
  readonly domains: readonly Domain[];
  readonly changedDomains: boolean;
}

/**
 * The shipped domains and those of the files. A file's domain replaces a shipped one of the same
 * name.
 * @throws CliError
 */
export async function domainsFor({ domain, changedDomain = false }: DeepOptions): Promise<Domains> {
  return { domains: await everyDomain(domain), changedDomains: changedDomain };
}

/**
 * Checks that every trajectory has a domain, before the replay starts. Unreadable trajectories are
 * left to the replay.
 *
 * @throws RuntimeError `domain_mismatch`
 */
export async function requireDomains(
  store: Store,
  trajectoryIds: readonly string[],
  domains: Domains,
): Promise<void> {
  for (const trajectoryId of trajectoryIds) {
    const first = readable(await entryAt(store, trajectoryId, 0))?.payload;
    if (first?.kind === 'root' || first?.kind === 'branch') domainToRun(first.domain, domains);
  }
}

/** Runs the domains again on the recorded proposals. */
export function replayDeeply(
  { interruption, progress }: Session,
  store: Store,
  trajectoryIds: readonly string[],
  domains: Domains,
): Promise<DeepReplayReport[]> {
  return deepReplayStore(watchedStore(store, interruption), {
    ...domains,
    trajectoryIds,
    oracle: store,
    onProgress: (done, total) => progress.report('running entries again', done, total),
  });
}

export function isSound({ same, preserved }: DeepReplayReport): boolean {
  return same && preserved;
}

export function printDeeply(out: Output, reports: readonly DeepReplayReport[]): void {
  out.line(line``);
  out.table(
    [
      { title: 'trajectory' },
      { title: 'domain that ran' },
      { title: 'run again', align: 'right' },
      { title: 'as recorded' },
      { title: 'result' },
    ],
    reports.map((report) => [
      report.trajectory_id,
      ranOf(report),
      report.compared,
      takenOf(report),
      isSound(report) ? green('the same') : red(resultOf(report)),
    ]),
  );
  for (const report of reports) printFindings(out, report);
  const sound = reports.filter(isSound).length;
  const sum = line`${sound} of ${reports.length} trajectories have the same result when their domain runs again.`;
  out.line(sound === reports.length ? green(sum) : red(sum));
}

function ranOf({ domain, recorded_domain }: DeepReplayReport): string {
  const { name, version, hash } = domain;
  const ran = `${name}@${version}`;
  if (hash === recorded_domain.hash) return ran;
  return `${ran} (${shortId(hash)}) for ${recorded_domain.version} (${shortId(recorded_domain.hash)})`;
}

function takenOf({ taken_as_recorded }: DeepReplayReport): string {
  return Object.entries(taken_as_recorded)
    .map(([why, n]) => `${n} ${why.replaceAll('_', ' ')}`)
    .join(', ');
}

function resultOf({ difference_count, broken_count }: DeepReplayReport): string {
  const parts = [
    difference_count === 0 ? undefined : counted(difference_count, 'difference'),
    broken_count === 0 ? undefined : counted(broken_count, 'broken invariant'),
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}

function printFindings(out: Output, report: DeepReplayReport): void {
  const { differences, difference_count, broken, broken_count, trajectory_id: asked } = report;
  const place = ({
    trajectory_id,
    seq,
    entry_id,
  }: {
    trajectory_id: string;
    seq: number;
    entry_id: string;
  }) =>
    `${trajectory_id === asked ? asked : `${asked}, from ${trajectory_id}`} seq ${seq} (${shortId(entry_id)})`;
  for (const difference of differences)
    out.line(line`${red(place(difference))}: ${textOf(difference)}`);
  for (const one of broken)
    out.line(line`${red(place(one))}: ${one.invariant_id} no longer passes: ${one.detail}`);
  const more = difference_count - differences.length + broken_count - broken.length;
  if (more > 0) out.line(line`${asked}: and ${more} more.`);
}

function textOf({ what, recorded, now }: Difference): string {
  return `${what}: recorded ${valueText(recorded)}; now ${valueText(now)}`;
}

/** A ruling in words, a sentence unchanged, any other value as JSON. */
function valueText(value: Json): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || !('ruling' in value))
    return shortJson(value, SHOWN_MAX);
  const { ruling, reason, invariant_id, detail } = value as { readonly [member: string]: Json };
  const by = invariant_id ?? reason;
  return [by === undefined ? ruling : `${ruling} (${by})`, detail]
    .filter((text) => text !== undefined)
    .join(', ');
}
