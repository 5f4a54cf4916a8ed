/**
 * The invariants, in order. The first one that does not pass decides. The last one always needs a
 * human decision, so a proposal that is refused anyway needs none. Two rules read all findings, by
 * their counts. Rules that read a verdict are checked on the record of its finding, so a pending
 * verdict blocks only that finding. The others are checked row by row. README.md names the source
 * of each.
 */
import {
  escalate,
  type Invariant,
  type InvariantResult,
  pass,
  type Rules,
  reject,
} from 'assize/internal/kernel';
import { EXPERT, isExpert, nameOf } from './experts.ts';
import { evidenceAt, expertAt, isSameEvidence, isThere, stands, stoodAt } from './record.ts';
import type { Finding, VerificationState } from './schema.ts';

export function rules(given: Rules<VerificationState>): readonly Invariant<VerificationState>[] {
  return [submissions, reproductions, queues, verdicts, reports, people].flatMap((part) =>
    part(given),
  );
}

function submissions({ each, unique }: Rules<VerificationState>): Invariant<VerificationState>[] {
  return [
    unique(
      'ONE_FINDING_PER_FINGERPRINT',
      '/findings/*/identity/*',
      { by: (_, [, fingerprint]) => fingerprint },
      (places) =>
        reject(
          `${places.map((place) => place.split('/')[2]).join(' and ')} are the same finding; submit to the existing one`,
        ),
    ),

    each(
      'SUBMISSIONS_AGREE',
      '/findings/*/submissions/*',
      {
        reads: ['/findings/*/identity'],
        with: (_, [finding]) => ({ identity: `/findings/${finding}/identity` }),
      },
      ({ fingerprint, component }, { identity = {} }) => {
        const [known, ...more] = Object.entries(identity);
        const same = known?.[0] === fingerprint && known[1] === component && more.length === 0;
        return same
          ? pass
          : reject(`this finding is about ${known?.[1] ?? 'nothing'}; open another finding`);
      },
    ),
  ];
}

function reproductions({ each }: Rules<VerificationState>): Invariant<VerificationState>[] {
  return [
    each(
      'REPRODUCED_WITH_EVIDENCE',
      '/findings/*/attempts/*',
      {
        reads: ['/findings/*/evidence/*'],
        // No hash is empty.
        with: ({ evidence = '' }, [finding]) => ({
          shows: `/findings/${finding}/evidence/${evidence}`,
        }),
      },
      ({ reproduced, evidence, n }, { shows }) => {
        if (evidence !== undefined && !isThere(shows, n))
          return reject(`no evidence ${evidence} is attached`);
        return reproduced && evidence === undefined
          ? reject('name the hash of the evidence that shows it')
          : pass;
      },
    ),

    each(
      'RATED_ON_REPRODUCTION',
      '/findings/*/ratings/*',
      {
        reads: ['/findings/*/attempts'],
        with: (_, [finding]) => ({ attempts: `/findings/${finding}/attempts` }),
      },
      ({ n }, { attempts = {} }) =>
        Object.values(attempts).some((attempt) => attempt.reproduced && attempt.n < n)
          ? pass
          : reject('the finding is not reproduced yet'),
    ),
  ];
}

function queues({ each, count }: Rules<VerificationState>): Invariant<VerificationState>[] {
  return [
    count(
      'EXPERT_QUEUE',
      '/findings/*/assignments/*',
      {
        where: ({ released }) => released === undefined,
        per: ({ expert }) => expert,
        reads: ['/experts/*/queue'],
        with: (expert) => ({ queue: `/experts/${expert}/queue` }),
      },
      (length, { queue }, expert) => {
        if (queue === undefined) return reject(`${expert} is not an expert`);
        return length <= queue
          ? pass
          : reject(`${expert} would have ${length} findings, but takes ${queue} at a time`);
      },
    ),

    each(
      'ASSIGNED_ONCE',
      '/findings/*/assignments/*',
      {
        reads: ['/findings/*/assignments', '/findings/*/submissions'],
        with: (_, [finding]) => ({
          assignments: `/findings/${finding}/assignments`,
          submissions: `/findings/${finding}/submissions`,
        }),
      },
      ({ n }, { assignments = {}, submissions = {} }) => {
        if (!Object.values(submissions).some((submission) => submission.n < n))
          return reject('nothing was submitted yet');
        const before = expertAt(assignments, n);
        return before === undefined ? pass : reject(`${before} has it already`);
      },
    ),
  ];
}

function verdicts({ each }: Rules<VerificationState>): Invariant<VerificationState>[] {
  return [
    each('VERDICT_ON_EVIDENCE', '/findings/*', {}, ({ verdicts, evidence }) =>
      rows(verdicts, ({ n, evidence: about }) => {
        const there = evidenceAt(evidence, n);
        if (there.length === 0) return 'there is no evidence to judge';
        return isSameEvidence(about, there)
          ? undefined
          : 'the verdict is about other evidence than the current one';
      }),
    ),

    each('ONE_VERDICT', '/findings/*', {}, ({ verdicts, ...record }) =>
      rows(verdicts, ({ n }) => {
        const other = Object.entries(verdicts).find(([, verdict]) => stands(verdict, record, n));
        return other === undefined
          ? undefined
          : `the verdict ${other[0]} is valid; a new verdict needs new evidence`;
      }),
    ),

    each('GENUINE_IS_REPRODUCED', '/findings/*', {}, ({ verdicts, attempts, ratings }) =>
      rows(verdicts, ({ n, genuine, rating, evidence }) => {
        if (!genuine)
          return rating === undefined ? undefined : 'a finding that is not genuine has no severity';
        const shown = Object.values(attempts).some(
          (attempt) =>
            attempt.reproduced && attempt.n < n && evidence.includes(attempt.evidence ?? ''),
        );
        if (!shown) return 'no evidence shows a reproduction';
        const agreed = ratings[rating ?? ''];
        return agreed !== undefined && agreed.n < n ? undefined : 'name the agreed rating';
      }),
    ),

    each('VERDICT_BY_ASSIGNED', '/findings/*', {}, ({ verdicts, assignments }) =>
      rows(verdicts, ({ n, by }) => {
        const expert = expertAt(assignments, n);
        if (expert === undefined) return 'no expert is assigned; assign one';
        return by === undefined || nameOf(by) === expert
          ? undefined
          : `${expert} is assigned, not ${by}`;
      }),
    ),

    each(
      'VERIFIER_IS_NOT_SUBMITTER',
      '/findings/*',
      {},
      ({ verdicts, submissions, assignments }) => {
        const submitted = (name: string, n: number): boolean =>
          Object.values(submissions).some(
            (submission) => submission.submitter === name && submission.n < n,
          );
        return first(
          rows(assignments, ({ expert, n }) =>
            submitted(expert, n) ? `${expert} submitted the finding` : undefined,
          ),
          rows(verdicts, ({ by, n }) =>
            by !== undefined && submitted(nameOf(by), n)
              ? `${by} submitted the finding`
              : undefined,
          ),
        );
      },
    ),
  ];
}

function reports({ each }: Rules<VerificationState>): Invariant<VerificationState>[] {
  return [
    each('REPORT_ON_VERDICT', '/findings/*', {}, (record) =>
      rows(record.reports, ({ verdict: id, n }) => {
        const verdict = record.verdicts[id];
        if (verdict === undefined || verdict.n >= n) return `there is no verdict ${id}`;
        if (!verdict.genuine) return `the verdict ${id} says that the finding is not genuine`;
        return stands(verdict, record, n)
          ? undefined
          : `the evidence has changed since ${id}; a new verdict is needed`;
      }),
    ),

    each('ONE_REPORT', '/findings/*', {}, ({ reports }) =>
      rows(reports, ({ n }) => {
        const standing = Object.keys(reports).find((key) =>
          stoodAt(reports[key] as Finding['reports'][string], n),
        );
        return standing === undefined ? undefined : `the report ${standing} stands`;
      }),
    ),

    each('RETRACTION_HAS_GROUND', '/findings/*', {}, (record) =>
      rows(record.reports, ({ verdict: id, retracted }) => {
        const verdict = record.verdicts[id];
        if (retracted === undefined || verdict === undefined) return undefined;
        return stands(verdict, record, retracted.n)
          ? `the verdict ${id} is valid, so the report is valid`
          : undefined;
      }),
    ),

    each('REFUTED_IS_RETRACTED', '/findings/*', {}, ({ verdicts, reports }) =>
      rows(verdicts, ({ n, genuine }) => {
        const standing = Object.keys(reports).find((key) =>
          stoodAt(reports[key] as Finding['reports'][string], n),
        );
        return genuine || standing === undefined
          ? undefined
          : `the report ${standing} stands; retract it first`;
      }),
    ),
  ];
}

function people({ each }: Rules<VerificationState>): Invariant<VerificationState>[] {
  return [
    each(
      'VERDICT_IS_HUMAN',
      '/findings/*/verdicts/*',
      {
        channel: EXPERT,
        onApprove: ({ findings }, { counselor, keys: [finding = '', verdict = ''] }) => {
          const row = findings[finding]?.verdicts[verdict];
          if (row !== undefined) row.by = counselor;
        },
      },
      ({ genuine, reason, by }, _, [finding]) => {
        if (by === undefined)
          return escalate(
            `an expert verifies ${finding}: ${genuine ? '' : 'not '}genuine, ${reason}`,
          );
        return isExpert(by) ? pass : reject(`${by} is not an expert`);
      },
    ),
  ];
}

/** The first row, in the order of keys, that something is wrong with. */
function rows<Row>(
  of: Readonly<Record<string, Row>>,
  fault: (row: Row, id: string) => string | undefined,
): InvariantResult {
  for (const [id, row] of Object.entries(of)) {
    const why = fault(row, id);
    if (why !== undefined) return reject(`${id}: ${why}`);
  }
  return pass;
}

function first(...results: readonly InvariantResult[]): InvariantResult {
  return results.find(({ result }) => result !== 'pass') ?? pass;
}
