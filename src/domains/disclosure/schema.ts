/**
 * The state of vulnerability disclosure. What one agent of seed 000, Table 3 works on stands under one key: a maintainer's
 * queue and reports under organisation and maintainer, everything that is known of a vulnerability under that
 * vulnerability, what peers may see of each other under their group. So a role is confined by its parameters, and a rule
 * about one vulnerability reads that vulnerability's rows and nobody else's.
 *
 * Facts are recorded with the instant of the proposal that recorded them, and are not rewritten: a disclosure is judged by
 * what was on record when it was made.
 */

import { z } from 'zod';
import type { Instant } from '#canon';

/** The pipeline phases of a vulnerability, in order: roles that it has, and so a field (seed 000, A.4), not an agent. */
export const PHASES = ['DISCOVERED', 'REPORTED', 'ACKNOWLEDGED', 'EMBARGOED', 'DISCLOSED'] as const;
export type Phase = (typeof PHASES)[number];

export const SEVERITIES = ['unrated', 'low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

export type Artifact = 'report' | 'poc' | 'writeup';
export type PublicKnowledgeStatus = 'not-known' | 'suspected' | 'publicly-known';
export type SignalKind = 'commit' | 'release' | 'advisory' | 'cve' | 'publication';
export type CveSource = 'assigned' | 'deduplication';
/** The roles whose slice is one assigned vulnerability. */
export type AssignedRole = 'PatchTracking' | 'CommitmentManagement';

/** Chosen when a trajectory begins; no process writes it. */
export interface Settings {
  /** In any `hours`, no more than so many reports to one maintainer of an organisation. */
  rate_limit: { reports: number; hours: number };
  embargo: {
    /** Days after which a report that nobody acknowledged is under embargo all the same. */
    reply_days: number;
    /** Days by which an embargo may be extended before a person is asked. */
    extension_days: number;
    /** Embargo regimes by name, and how many days from the report on each lasts. */
    regimes: Record<string, { days: number }>;
  };
}

export interface Vulnerability {
  /** The receiving organisation. */
  organisation: string;
  maintainer: string;
  component: string;
}

/** How long a vulnerability is kept back: from its report on, as its regime says, and as it was extended since. */
export interface EmbargoSpec {
  regime: string;
  days: number;
  deadline: Instant;
  /** When it was put in force. */
  at: Instant;
  extensions: { days: number; reason: string; at: Instant; approved_by?: string }[];
}

/** `/queue/{organisation}/{maintainer}/{vulnerability}`: how far a vulnerability has got with its maintainer. */
export interface Submission {
  phase: Phase;
  registered_at: Instant;
  /** `n` is its place among the reports to this maintainer, `digest` the SHA-256 of what was sent. */
  submitted?: { at: Instant; n: number; digest: string };
  receipt?: { at: Instant; reference: string };
  embargo?: EmbargoSpec;
}

/** `/reports/{organisation}/{maintainer}/-`, in order of time: what the rate limit is judged on. */
export interface Report {
  vulnerability: string;
  at: Instant;
  /** The number of reports that the limit allowed, and so how far back its window is looked for. */
  limit: number;
}

/** Something that was observed from outside: at the receiving organisation, a numbering authority, in public. */
export interface Signal {
  kind: SignalKind;
  /** Where it can be seen: a URL, a version, an id. */
  reference: string;
  at: Instant;
}

/** `/patches/{vulnerability}/-`: a patch and what became of it; `signal` is a place in `/signals/{vulnerability}`. */
export interface Patch {
  developed: { signal: number; at: Instant };
  review?: { robust: boolean; note: string; at: Instant };
  released?: { signal: number; at: Instant };
}

export interface SeverityRecord {
  initial: Severity;
  current: Severity;
  /** Each with where the receiving organisation says so. */
  revisions: { from: Severity; to: Severity; reference: string; at: Instant; approved_by?: string }[];
}

export interface PublicKnowledge {
  status: PublicKnowledgeStatus;
  signal: number;
  since: Instant;
  confirmed_by?: string;
}

export interface CveAttribution {
  requested_at?: Instant;
  assigned: Record<string, { source: CveSource; at: Instant }>;
}

/** `/commitments/{vulnerability}/{hash}`. */
export interface Commitment {
  artifact: Artifact;
  at: Instant;
}

/** `/resolutions/{vulnerability}/-`: what opens a commitment (`commitmentOf`). */
export interface Resolution {
  hash: string;
  salt: string;
  /** SHA-256 of the artifact. */
  digest: string;
  at: Instant;
}

/** Vulnerabilities that are disclosed together. A member shows its peers no more than how far it is. */
export interface CoDisclosureGroup {
  planned_at: Instant;
  members: Record<string, GroupMember>;
  left: { vulnerability: string; reason: string; at: Instant; approved_by?: string }[];
}

export interface GroupMember {
  organisation: string;
  maintainer: string;
  joined_at: Instant;
  ready_at?: Instant;
  disclosed_at?: Instant;
}

/** What is published; a draft until `disclosed_at`. */
export interface DisclosureRecord {
  organisation: string;
  maintainer: string;
  group: string;
  ready_at: Instant;
  disclosed_at?: Instant;
  /** The reference of a signal that the released patch rests on. */
  patch_link?: string;
  /** Why there is no patch to link to. */
  patch_unavailable?: string;
  cves: string[];
  attribution: string[];
  /** Hashes of the commitments that were opened. */
  resolved: string[];
}

/** `/assignments/{agent}`: whom an agent works for at a time, and on what. */
export interface Assignment {
  organisation: string;
  vulnerabilities: Record<string, { role: AssignedRole; since: Instant }>;
}

type By<Row> = Record<string, Row>;

export interface DisclosureState {
  settings: Settings;
  vulnerabilities: By<Vulnerability>;
  queue: By<By<By<Submission>>>;
  reports: By<By<Report[]>>;
  signals: By<Signal[]>;
  patches: By<Patch[]>;
  severities: By<SeverityRecord>;
  knowledge: By<PublicKnowledge>;
  cves: By<CveAttribution>;
  commitments: By<By<Commitment>>;
  resolutions: By<Resolution[]>;
  groups: By<CoDisclosureGroup>;
  records: By<DisclosureRecord>;
  assignments: By<Assignment>;
}

/** Ids stand in pointers as they are: no `/`, no `~`, and never a name that JavaScript gives a meaning to. */
export const id: z.ZodString = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/);
export const sha256: z.ZodString = z.string().regex(/^[0-9a-f]{64}$/);
/** Zeros go before a number up to four digits and no further: one identifier written in two ways would be two. */
export const cveId: z.ZodString = z.string().regex(/^CVE-[0-9]{4}-([0-9]{4}|[1-9][0-9]{4,})$/);
export const instant: z.ZodType<Instant, Instant> = z.iso.datetime({ precision: 6 });
export const severity: z.ZodType<Severity, Severity> = z.enum(SEVERITIES);
export const artifact: z.ZodType<Artifact, Artifact> = z.enum(['report', 'poc', 'writeup']);
export const knowledgeStatus: z.ZodType<PublicKnowledgeStatus, PublicKnowledgeStatus> = z.enum([
  'not-known',
  'suspected',
  'publicly-known',
]);
export const signalKind: z.ZodType<SignalKind, SignalKind> = z.enum([
  'commit',
  'release',
  'advisory',
  'cve',
  'publication',
]);
export const cveSource: z.ZodType<CveSource, CveSource> = z.enum(['assigned', 'deduplication']);
export const assignedRole: z.ZodType<AssignedRole, AssignedRole> = z.enum(['PatchTracking', 'CommitmentManagement']);
export const text: z.ZodString = z.string().min(1).max(2_000);
/** A hundred years of days, so that no deadline leaves the calendar. */
export const days: z.ZodInt = z.int().min(1).max(36_500);

const count = z.int().min(0);
const by = <Row extends z.ZodType>(row: Row) => z.record(id, row);
const seen = z.object({ signal: count, at: instant });
const approved = { at: instant, approved_by: z.string().exactOptional() };

const embargo = z.object({
  regime: id,
  days,
  deadline: instant,
  at: instant,
  extensions: z.array(z.object({ days, reason: z.string(), ...approved })),
});

export const disclosureState: z.ZodType<DisclosureState> = z.object({
  settings: z.object({
    rate_limit: z.object({ reports: z.int().min(1), hours: z.int().min(1).max(876_000) }),
    embargo: z.object({ reply_days: days, extension_days: z.int().min(0), regimes: by(z.object({ days })) }),
  }),
  vulnerabilities: by(z.object({ organisation: id, maintainer: id, component: z.string() })),
  queue: by(
    by(
      by(
        z.object({
          phase: z.enum(PHASES),
          registered_at: instant,
          submitted: z.object({ at: instant, n: count, digest: sha256 }).exactOptional(),
          receipt: z.object({ at: instant, reference: z.string() }).exactOptional(),
          embargo: embargo.exactOptional(),
        }),
      ),
    ),
  ),
  reports: by(by(z.array(z.object({ vulnerability: id, at: instant, limit: z.int().min(1) })))),
  signals: by(z.array(z.object({ kind: signalKind, reference: z.string(), at: instant }))),
  patches: by(
    z.array(
      z.object({
        developed: seen,
        review: z.object({ robust: z.boolean(), note: z.string(), at: instant }).exactOptional(),
        released: seen.exactOptional(),
      }),
    ),
  ),
  severities: by(
    z.object({
      initial: severity,
      current: severity,
      revisions: z.array(z.object({ from: severity, to: severity, reference: z.string(), ...approved })),
    }),
  ),
  knowledge: by(
    z.object({ status: knowledgeStatus, signal: count, since: instant, confirmed_by: z.string().exactOptional() }),
  ),
  cves: by(
    z.object({
      requested_at: instant.exactOptional(),
      assigned: z.record(cveId, z.object({ source: cveSource, at: instant })),
    }),
  ),
  commitments: by(z.record(sha256, z.object({ artifact, at: instant }))),
  resolutions: by(z.array(z.object({ hash: sha256, salt: z.string(), digest: sha256, at: instant }))),
  groups: by(
    z.object({
      planned_at: instant,
      members: by(
        z.object({
          organisation: id,
          maintainer: id,
          joined_at: instant,
          ready_at: instant.exactOptional(),
          disclosed_at: instant.exactOptional(),
        }),
      ),
      left: z.array(z.object({ vulnerability: id, reason: z.string(), ...approved })),
    }),
  ),
  records: by(
    z.object({
      organisation: id,
      maintainer: id,
      group: id,
      ready_at: instant,
      disclosed_at: instant.exactOptional(),
      patch_link: z.string().exactOptional(),
      patch_unavailable: z.string().exactOptional(),
      cves: z.array(cveId),
      attribution: z.array(z.string()),
      resolved: z.array(sha256),
    }),
  ),
  assignments: by(
    z.object({ organisation: id, vulnerabilities: by(z.object({ role: assignedRole, since: instant })) }),
  ),
});
