/**
 * The state of vulnerability disclosure. The rows for one agent of Agentic Redux, Table 3 are under
 * one key: a maintainer's queue and reports under organisation and maintainer, all records of a
 * vulnerability under that vulnerability, and the shared view of peers under their group. So a role
 * is confined by its parameters, and a rule about one vulnerability reads only that vulnerability's
 * rows.
 *
 * Facts are recorded with the instant of their proposal, and are not rewritten: a disclosure is
 * checked against the record at its time.
 */

import type { Instant } from 'assize/internal/canon';
import { z } from 'zod';

/**
 * The pipeline phases of a vulnerability, in order. They are roles of the vulnerability, and so a
 * field (Agentic Redux A.4), not an agent.
 */
export const PHASES = [
  'DISCOVERED',
  'TRIAGED',
  'REPORTED',
  'ACKNOWLEDGED',
  'EMBARGOED',
  'DISCLOSED',
] as const;
export type Phase = (typeof PHASES)[number];

export const SEVERITIES = ['unrated', 'low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

export type Artifact = 'report' | 'poc' | 'writeup';
export type PublicKnowledgeStatus = 'not-known' | 'suspected' | 'publicly-known';
export type SignalKind = 'commit' | 'release' | 'advisory' | 'cve' | 'publication';
export type CveSource = 'assigned' | 'deduplication';
/** The roles with one assigned vulnerability as their slice. */
export type AssignedRole = 'PatchTracking' | 'CommitmentManagement';

/** Chosen when a trajectory is created. No process writes it. */
export interface Settings {
  /** Maximum number of reports to one maintainer of an organisation in any `hours`. */
  rate_limit: { reports: number; hours: number };
  embargo: {
    /** Days after which an unacknowledged report is under embargo all the same. */
    reply_days: number;
    /** Maximum extension of an embargo, in days, without approval. */
    extension_days: number;
    /** Embargo regimes by name, with their length in days from the report on. */
    regimes: Record<string, { days: number }>;
  };
}

export interface Vulnerability {
  /** The receiving organisation. */
  organisation: string;
  maintainer: string;
  component: string;
}

/** The length of an embargo: from its report on, by its regime, with its extensions. */
export interface EmbargoSpec {
  regime: string;
  days: number;
  deadline: Instant;
  /** The time at which it entered into force. */
  at: Instant;
  extensions: { days: number; reason: string; at: Instant; approved_by?: string }[];
}

/**
 * `/queue/{organisation}/{maintainer}/{vulnerability}`: the progress of a vulnerability with its
 * maintainer.
 */
export interface Submission {
  phase: Phase;
  registered_at: Instant;
  /** The decision to report it, with the reason. */
  triaged?: { at: Instant; note: string };
  /**
   * `n` is its index among the reports to this maintainer, `digest` the SHA-256 of the sent report.
   */
  submitted?: { at: Instant; n: number; digest: string };
  receipt?: { at: Instant; reference: string };
  embargo?: EmbargoSpec;
}

/** `/reports/{organisation}/{maintainer}/-`, in order of time: the data of the rate limit. */
export interface Report {
  vulnerability: string;
  at: Instant;
  /**
   * The number of reports that the limit allowed, and so the distance back to the start of its
   * window.
   */
  limit: number;
}

/**
 * An observation from outside: at the receiving organisation, a numbering authority, or in public.
 */
export interface Signal {
  kind: SignalKind;
  /** Its source: a URL, a version, an id. */
  reference: string;
  at: Instant;
}

/**
 * `/patches/{vulnerability}/-`: a patch and its history. `signal` is an index in
 * `/signals/{vulnerability}`.
 */
export interface Patch {
  developed: { signal: number; at: Instant };
  review?: { robust: boolean; note: string; at: Instant };
  released?: { signal: number; at: Instant };
}

export interface SeverityRecord {
  initial: Severity;
  current: Severity;
  /** Each with the place in which the receiving organisation states it. */
  revisions: {
    from: Severity;
    to: Severity;
    reference: string;
    at: Instant;
    approved_by?: string;
  }[];
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

/** `/resolutions/{vulnerability}/-`: the opening of a commitment (`commitmentOf`). */
export interface Resolution {
  hash: string;
  salt: string;
  /** SHA-256 of the artifact. */
  digest: string;
  at: Instant;
}

/** Vulnerabilities that are disclosed together. A member shows only its phase to its peers. */
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

/** The published record. A draft until `disclosed_at`. */
export interface DisclosureRecord {
  organisation: string;
  maintainer: string;
  group: string;
  ready_at: Instant;
  disclosed_at?: Instant;
  /** The reference of a signal about the released patch. */
  patch_link?: string;
  /** The reason why there is no patch to link to. */
  patch_unavailable?: string;
  cves: string[];
  attribution: string[];
  /** Hashes of the opened commitments. */
  resolved: string[];
}

/** `/assignments/{agent}`: the current organisation of an agent, and its vulnerabilities. */
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

/**
 * Ids are used in pointers without escapes: no `/`, no `~`, and never a name with a meaning in
 * JavaScript.
 */
export const id: z.ZodString = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/);
export const sha256: z.ZodString = z.string().regex(/^[0-9a-f]{64}$/);
/**
 * Numbers are zero-padded to four digits and no further: one identifier in two spellings would
 * count as two.
 */
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
export const assignedRole: z.ZodType<AssignedRole, AssignedRole> = z.enum([
  'PatchTracking',
  'CommitmentManagement',
]);
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
    embargo: z.object({
      reply_days: days,
      extension_days: z.int().min(0),
      regimes: by(z.object({ days })),
    }),
  }),
  vulnerabilities: by(z.object({ organisation: id, maintainer: id, component: z.string() })),
  queue: by(
    by(
      by(
        z.object({
          phase: z.enum(PHASES),
          registered_at: instant,
          triaged: z.object({ at: instant, note: z.string() }).exactOptional(),
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
      revisions: z.array(
        z.object({ from: severity, to: severity, reference: z.string(), ...approved }),
      ),
    }),
  ),
  knowledge: by(
    z.object({
      status: knowledgeStatus,
      signal: count,
      since: instant,
      confirmed_by: z.string().exactOptional(),
    }),
  ),
  cves: by(
    z.object({
      requested_at: instant.exactOptional(),
      assigned: z.record(cveId, z.object({ source: cveSource, at: instant })),
    }),
  ),
  commitments: by(z.record(sha256, z.object({ artifact, at: instant }))),
  resolutions: by(
    z.array(z.object({ hash: sha256, salt: z.string(), digest: sha256, at: instant })),
  ),
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
    z.object({
      organisation: id,
      vulnerabilities: by(z.object({ role: assignedRole, since: instant })),
    }),
  ),
});
