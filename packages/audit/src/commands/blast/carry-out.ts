import {
  bold,
  CliError,
  EXIT,
  type ExitCode,
  inSession,
  line,
  type Output,
  type Session,
  type SharedOptions,
  withAssize,
  yellow,
} from '@assize/command';
import { INCIDENTS } from 'assize/internal/config';
import type { AffectedEntry, Assize } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { counted, shortId, shortTime } from 'assize/internal/views';
import type { Command } from 'commander';
import { type Incident, stepText } from '#incident-domain';
import {
  affectedSince,
  carryOut,
  type IncidentDocument,
  incidentDocument,
  incidentsToCarryOut,
  openIncidentTrajectory,
} from '#incidents';
import { printRemains, printSteps } from '../response-text.ts';
import { type ActingOptions, anchorKey, rootWrits, withActingOptions } from './acting-options.ts';

type Options = SharedOptions & ActingOptions;

export function carryOutCommand(family: Command): void {
  withActingOptions(
    family
      .command('carry-out')
      .description('carry out the steps of an approved response, and record each outcome')
      .argument('[incident]', 'id of the incident (default: each approved incident that is open)'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize blast carry-out\n  assize blast carry-out 3f9a01bc55de --key root.key\n\n' +
        'Repeat the command at any time, also after a crash: a step that was carried out is recognised.\n' +
        'Negative: a step failed. It remains, with its reason.',
    )
    .action(
      inSession((session, options: Options, id?: string) => {
        return session.withStore('existing', async (store) => {
          const key = anchorKey(session, options, 'to carry out a response');
          const writFor = rootWrits(store, options.as, key);
          return withAssize(store, session.storeUrl, options, async (assize) => {
            const ids =
              id === undefined ? await approvedIncidents(assize, options.incidents) : [id];
            const done: CarriedIncident[] = [];
            for (const incident of ids)
              done.push(await carryOutOne(assize, store, { ...options, incident, writFor }));
            return say(session, done);
          });
        });
      }),
    );
}

/** The ids of the approved incidents that are open. @throws CliError `not_found` */
async function approvedIncidents(assize: Assize, trajectoryId: string): Promise<readonly string[]> {
  const all = await assize.trajectories();
  if (!all.some(({ trajectory_id }) => trajectory_id === trajectoryId)) {
    if (trajectoryId === INCIDENTS) return [];
    throw new CliError(
      'not_found',
      `The store has no trajectory ${trajectoryId}. Check --incidents.`,
    );
  }
  return incidentsToCarryOut((await openIncidentTrajectory(assize, trajectoryId)).state() as never);
}

/** An incident after the command, and the entries that its plan does not know. */
interface CarriedIncident {
  readonly document: IncidentDocument;
  /** Absent: another process, or an earlier command, closed the incident before. */
  readonly since?: readonly AffectedEntry[];
}

async function carryOutOne(
  assize: Assize,
  store: Store,
  {
    incident,
    writFor,
    incidents,
  }: Options & { readonly incident: string; readonly writFor: ReturnType<typeof rootWrits> },
): Promise<CarriedIncident> {
  const done = await carryOut(assize, store, { incident, writFor, trajectoryId: incidents });
  const document = incidentDocument(incident, done.incident);
  if (done.recorded === 0) return { document };
  return { document, since: await affectedSince(store, done.incident, incidents) };
}

function say({ json, out }: Session, incidents: readonly CarriedIncident[]): ExitCode {
  if (json)
    out.document({
      incidents: incidents.map(({ document, since }) => ({
        ...document,
        ...(since !== undefined && { affected_since: since.map(({ id }) => id) }),
      })),
    });
  else if (incidents.length === 0) out.line(line`No approved incident is open.`);
  else for (const each of incidents) print(out, each);
  const hasFailed = incidents.some(({ document }) =>
    document.steps.some(({ outcome }) => outcome === 'failed'),
  );
  return hasFailed ? EXIT.negative : EXIT.ok;
}

const SHOWN_MAX = 5;

function print(out: Output, { document, since }: CarriedIncident): void {
  const { id, start, because, approved_by = '', closed_at, steps, remains } = document;
  out.line(line`${bold(`incident ${id}`)}, approved by ${approved_by}: ${because}`);
  if (since === undefined && closed_at !== undefined)
    out.line(line`Nothing was done: it was carried out before, by ${shortTime(closed_at)}.`);
  printSteps(
    out,
    steps.map((step) => ({
      text: stepText(step),
      ...(step.outcome !== undefined && { outcome: step.outcome }),
    })),
  );
  printRemains(out, remains);
  if (since === undefined || since.length === 0) return;
  const shown = since.slice(0, SHOWN_MAX).map((entry) => shortId(entry.id));
  const more = since.length > SHOWN_MAX ? ' …' : '';
  out.line(
    line`${yellow('not in the plan')}: ${counted(since.length, 'entry')} affected since it was made: ${shown.join(' ')}${more}`,
  );
  out.line(line`Make a new plan for them: assize blast ${startOptions(start)} --plan`);
}

/** The options of `assize blast` that name a start, for a shell. */
function startOptions({ facts, ...start }: Incident['start']): string {
  const named = Object.entries({ ...facts, ...start });
  return named
    .flatMap(([name, value]) => (value === undefined ? [] : `--${name} ${quoted(value)}`))
    .join(' ');
}

/** A name may be any text of the ledger. */
function quoted(value: string): string {
  return /^[\w:./@+-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}
