import {
  digits,
  fileForm,
  hash,
  instant,
  name,
  type Operation,
  type Request,
  time,
} from '@assize/command/operation';
import { z } from 'zod';
import { type ComplianceReport, FRAMEWORKS, makeReport, reportHtml } from '#compliance';
import { type AuditService, operation } from './service.ts';

const ALL = 'all';
const params = z.strictObject({
  framework: name.describe(`${FRAMEWORKS.map(({ id }) => id).join(', ')}, or ${ALL}`),
});
const query = z.strictObject({
  since: time.optional().describe('the first time of the period. Default: the first entry'),
  until: time.optional().describe('the time after the period. Default: the last entry counts'),
  trajectory: name.optional().describe('only this trajectory. Default: all'),
  size: digits
    .optional()
    .describe('only the first entries of the log, to make an earlier report again'),
});

const status = z.enum(['shown', 'gap', 'none']);
const exampleForm = z.strictObject({
  id: hash,
  trajectory_id: z.string(),
  seq: z.number().int(),
  at: z.string(),
  note: z.string().optional(),
});
const measureForm = z
  .strictObject({
    id: z.string(),
    title: z.string(),
    status,
    figure: z.string(),
    examples: z.array(exampleForm).optional().describe('the first entries, at most five'),
    remedy: z.string().optional().describe('for a gap: what closes it'),
    proof: z.strictObject({ command: z.string(), api: z.string().optional() }),
  })
  .meta({
    id: 'ReportMeasure',
    description: 'One question to the ledger, and what the ledger shows.',
  });
const clauseForm = z
  .strictObject({
    ...{ id: z.string(), title: z.string(), status },
    asks: z.string().describe('a paraphrase, which is the reading of the Assize project'),
    measures: z.array(measureForm),
  })
  .meta({ id: 'ReportClause' });

const reportForm = z
  .strictObject({
    format: z.literal('assize/report/v1'),
    note: z.string(),
    scope: z.strictObject({
      ...{ since: instant.nullable(), until: instant.nullable() },
      trajectories: z.array(z.string()).nullable().describe('null: all'),
      entries: z
        .number()
        .int()
        .describe('in the period and trajectories; without one, nothing is shown'),
    }),
    log: z.strictObject({
      size: z.number().int(),
      root: hash,
      as_of: instant.nullable(),
      checkpoint: z
        .strictObject({
          ...{ origin: z.string(), size: z.number().int(), root: hash },
          cosigned: z.array(z.strictObject({ name: z.string(), at: instant.optional() })),
        })
        .nullable(),
    }),
    valid: z.boolean().describe('whether all that was read verifies'),
    faults: z.array(
      z.strictObject({
        ...{ code: z.string(), detail: z.string() },
        ...{ trajectory_id: z.string().optional(), seq: z.number().int().optional() },
      }),
    ),
    frameworks: z.array(
      z.strictObject({ id: z.string(), title: z.string(), clauses: z.array(clauseForm) }),
    ),
    gaps: z.number().int().describe('the number of clauses with a gap'),
  })
  .meta({
    id: 'ComplianceReport',
    description: 'Evidence of one ledger. No legal advice, no certification.',
  });

const declared = {
  method: 'get',
  kinds: ['auditor', 'admin'],
  params,
  query,
  errors: ['not_found', 'bad_argument'],
} as const;

const make = operation({
  ...declared,
  id: 'reports.make',
  path: '/v1/reports/{framework}',
  summary:
    'What the ledger shows for the clauses of a law or a standard, and the gaps. Verifies all entries in scope.',
  answer: reportForm,
  run: async (request) => ({
    body: (await reported(request)) as unknown as z.input<typeof reportForm>,
  }),
});

const page = operation({
  ...declared,
  id: 'reports.page',
  path: '/v1/reports/{framework}/page',
  summary: 'The same report as one HTML file, to print and to keep.',
  answer: fileForm,
  media: 'text/html',
  run: async (request) => {
    const report = await reported(request);
    return {
      bytes: Buffer.from(reportHtml(report)),
      headers: {
        'content-type': 'text/html',
        'content-disposition': `attachment; filename="assize-report-${report.log.size}.html"`,
      },
    };
  },
});

async function reported({
  path: { framework },
  query: { since, until, trajectory, size },
  service,
  signal,
}: Request<typeof params, typeof query, undefined, AuditService>): Promise<ComplianceReport> {
  const period = { ...(since !== undefined && { since }), ...(until !== undefined && { until }) };
  const last = await service.checkpoints.latest();
  return service.bundles.run(signal, () =>
    makeReport(service.store, {
      ...period,
      ...(framework !== ALL && { frameworks: [framework] }),
      ...(trajectory !== undefined && { trajectories: [trajectory] }),
      ...(size !== undefined && { size }),
      ...(last !== undefined && {
        checkpoint: {
          ...{ signed: last.checkpoint, log: service.checkpoints.known },
          witnesses: service.checkpoints.witnessKeys,
        },
      }),
    }),
  );
}

export const reports: readonly Operation<AuditService>[] = [make, page];
