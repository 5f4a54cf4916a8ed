/**
 * The preconditions of the processes (Agentic Redux §2.3, Procedure 2, step 2), in addition to the
 * lines of Table 2: related rows agree, and every phase has the records that it stands for.
 */
import { type Invariant, pass, type Rules, reject } from 'assize/internal/kernel';
import type {
  DisclosureRecord,
  DisclosureState,
  EmbargoSpec,
  Phase,
  Settings,
  Signal,
  SignalKind,
  Submission,
} from '../schema.ts';
import { addDays, isBy } from '../time.ts';
import { isPublic } from './preconditions.ts';

/** No list has an element at this index. */
const NOWHERE = -1;

export function lifeCycle({ each }: Rules<DisclosureState>): Invariant<DisclosureState>[] {
  return [
    each(
      'PHASE_FOLLOWS_RECORD',
      '/queue/*/*/*',
      {
        reads: ['/vulnerabilities', '/records', '/reports', '/settings/embargo'],
        with: ({ submitted }, [organisation, maintainer, vulnerability]) => ({
          vulnerability: `/vulnerabilities/${vulnerability}`,
          record: `/records/${vulnerability}`,
          settings: '/settings/embargo',
          report: `/reports/${organisation}/${maintainer}/${submitted?.n ?? NOWHERE}`,
        }),
      },
      (entry, { vulnerability, record, report, settings }, [organisation, maintainer, id = '']) => {
        const isTheirs = (row: { organisation: string; maintainer: string } | undefined) =>
          row?.organisation === organisation && row?.maintainer === maintainer;
        if (!isTheirs(vulnerability))
          return reject(`${id} is not a vulnerability of ${maintainer} of ${organisation}`);
        if (record !== undefined && !isTheirs(record))
          return reject(`the record of ${id} names another maintainer`);
        const { phase, triaged, submitted, embargo } = entry;
        const due = phaseOf(entry, record);
        if (phase !== due) return reject(`${id} is ${due}, not ${phase}`);
        if (triaged !== undefined && submitted !== undefined && submitted.at < triaged.at)
          return reject(`${id} was reported before its triage`);
        if (
          submitted !== undefined &&
          (report?.vulnerability !== id || report.at !== submitted.at)
        ) {
          return reject(`the report of ${id} is not among those to ${maintainer}`);
        }
        const fault = embargo === undefined ? undefined : termsFault(entry, embargo, settings);
        return fault === undefined ? pass : reject(fault);
      },
    ),

    each(
      'OPENED_AFTER_EMBARGO',
      '/queue/*/*/*',
      {
        reads: ['/resolutions', '/knowledge'],
        with: (_, [, , vulnerability]) => ({
          resolutions: `/resolutions/${vulnerability}`,
          knowledge: `/knowledge/${vulnerability}`,
        }),
      },
      ({ embargo }, { resolutions = [], knowledge }) => {
        const early = resolutions.find(
          ({ at }) => !isPublic(knowledge, at) && !(embargo && embargo.deadline <= at),
        );
        return early === undefined
          ? pass
          : reject(`${early.hash} would be opened before the end of the embargo`);
      },
    ),

    each(
      'PATCH_RESTS_ON_SIGNALS',
      '/patches/*/*',
      {
        reads: ['/signals'],
        with: ({ developed, released }, [vulnerability]) => ({
          commit: `/signals/${vulnerability}/${developed.signal}`,
          release: `/signals/${vulnerability}/${released?.signal ?? NOWHERE}`,
        }),
      },
      ({ developed, released }, { commit, release }) =>
        isSeen(developed, commit, ['commit', 'release', 'advisory']) &&
        (released === undefined || isSeen(released, release, ['release', 'advisory']))
          ? pass
          : reject('no observation supports this about the patch'),
    ),
  ];
}

/** The phase of a vulnerability, by its records. */
function phaseOf(
  { triaged, submitted, receipt, embargo }: Submission,
  record: DisclosureRecord | undefined,
): Phase {
  if (record?.disclosed_at !== undefined) return 'DISCLOSED';
  if (embargo !== undefined) return 'EMBARGOED';
  if (receipt !== undefined) return 'ACKNOWLEDGED';
  if (submitted !== undefined) return 'REPORTED';
  return triaged === undefined ? 'DISCOVERED' : 'TRIAGED';
}

function termsFault(
  { submitted, receipt }: Submission,
  { regime, days, deadline, at, extensions }: EmbargoSpec,
  settings: Settings['embargo'] | undefined,
): string | undefined {
  if (submitted === undefined) return 'an embargo counts from a report, and there is none';
  if (days !== settings?.regimes[regime]?.days)
    return `the regime ${regime} does not last ${days} days`;
  const all = extensions.reduce((sum, extension) => sum + extension.days, days);
  if (deadline !== addDays(submitted.at, all))
    return `the embargo ends ${all} days after the report`;
  const replyUntil = addDays(submitted.at, settings.reply_days);
  return isBy(receipt, at) || replyUntil <= at
    ? undefined
    : `the report is not acknowledged, and a reply is due until ${replyUntil}`;
}

function isSeen(
  fact: { at: string },
  signal: Signal | undefined,
  kinds: readonly SignalKind[],
): boolean {
  return signal !== undefined && kinds.includes(signal.kind) && signal.at === fact.at;
}
