import type { Command } from 'commander';
import { stepText } from '#domains/incident';
import { carryOut, type IncidentDocument, incidentDocument, openIncidents, openIncidentsIn } from '#incidents';
import type { Assize } from '#runtime';
import type { Store } from '#stores';
import { EXIT, type ExitCode } from '../../errors.ts';
import { withSharedOptions } from '../../files/options.ts';
import { openAssize } from '../../store/runtime.ts';
import { inSession, type Session, type SharedOptions } from '../../store/session.ts';
import type { Output } from '../../terminal/output.ts';
import { bold, line } from '../../terminal/printable.ts';
import { withOfficeOptions } from './office-options.ts';
import { type OfficeOptions, officeKey, officeWrits, printRemains, printSteps } from './respond.ts';

type Options = SharedOptions & OfficeOptions;

export function carryOutCommand(family: Command): void {
  withSharedOptions(
    withOfficeOptions(
      family
        .command('carry-out')
        .description('carry out the steps of an approved response, and record each outcome')
        .argument('[incident]', 'id of the incident (default: each approved incident that is open)'),
    ),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize blast carry-out\n  assize blast carry-out 3f9a01bc55de --key root.key\n\n' +
        'Repeat the command at any time, also after a crash: a step that was carried out is recognised.\n' +
        'Negative: a step failed. It remains, with its reason.',
    )
    .action(
      inSession((session, options: Options, id?: string) => {
        const key = officeKey(session, options, 'to carry out a response');
        return session.withStore('existing', async (store) => {
          const assize = await openAssize(store, session.storeUrl, options);
          try {
            const ids = id === undefined ? await openOnes(assize, options.incidents) : [id];
            const documents: IncidentDocument[] = [];
            const writFor = officeWrits(store, options.as, key);
            for (const incident of ids) documents.push(await carried(assize, store, { ...options, incident, writFor }));
            return say(session, documents);
          } finally {
            await assize.close();
          }
        });
      }),
    );
}

async function openOnes(assize: Assize, trajectoryId: string): Promise<readonly string[]> {
  const all = await assize.trajectories();
  if (!all.some(({ trajectory_id }) => trajectory_id === trajectoryId)) return [];
  return openIncidentsIn((await openIncidents(assize, trajectoryId)).state() as never);
}

async function carried(
  assize: Assize,
  store: Store,
  {
    incident,
    writFor,
    incidents,
  }: Options & { readonly incident: string; readonly writFor: ReturnType<typeof officeWrits> },
): Promise<IncidentDocument> {
  const done = await carryOut(assize, store, { incident, writFor, trajectoryId: incidents });
  return incidentDocument(incident, done.incident);
}

function say({ json, out }: Session, incidents: readonly IncidentDocument[]): ExitCode {
  if (json) out.document({ incidents });
  else if (incidents.length === 0) out.line(line`No approved incident is open.`);
  else for (const incident of incidents) print(out, incident);
  const hasFailed = incidents.some(({ steps }) => steps.some(({ outcome }) => outcome === 'failed'));
  return hasFailed ? EXIT.negative : EXIT.ok;
}

function print(out: Output, { id, because, approved_by = '', steps, remains }: IncidentDocument): void {
  out.line(line`${bold(`incident ${id}`)}, approved by ${approved_by}: ${because}`);
  printSteps(
    out,
    steps.map((step) => ({ text: stepText(step), ...(step.outcome !== undefined && { outcome: step.outcome }) })),
  );
  printRemains(out, remains);
}
