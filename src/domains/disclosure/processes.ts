/**
 * The twelve processes that a vulnerability goes through, with what each may touch, and the roles that perform them: the
 * four agents of seed 000, Table 3, with the slices that it gives them, and the discovering organisation's own desk, which
 * takes in what verification hands over (`Intake`) and says who works on what (`Staffing`).
 */
import type { Process, Role } from '#kernel';

const ENTRY = '/queue/{organisation}/{maintainer}/{vulnerability}';
/** That the agent is assigned to the vulnerability. */
const ASSIGNED = '/assignments/{agent}/vulnerabilities/{vulnerability}';
const SIGNALS = '/signals/{vulnerability}';

export const processes = {
  RegisterVulnerability: {
    // The first vulnerability of a maintainer begins their queue and their list of reports.
    writes: [
      '/vulnerabilities/{vulnerability}',
      ENTRY,
      '/reports/{organisation}/{maintainer}/-',
      '/severities/{vulnerability}',
      '/cves/{vulnerability}',
    ],
  },
  AssignAgent: {
    reads: ['/vulnerabilities/{vulnerability}/organisation', '/records/{vulnerability}/disclosed_at'],
    writes: ['/assignments/{agent}'],
  },
  SubmitReport: {
    reads: ['/queue/{organisation}/{maintainer}', '/reports/{organisation}/{maintainer}', '/settings/rate_limit'],
    writes: [ENTRY, '/reports/{organisation}/{maintainer}/-'],
  },
  NegotiateEmbargo: { reads: ['/settings/embargo'], writes: [ENTRY] },
  DevelopPatch: { reads: [ASSIGNED, SIGNALS], writes: ['/patches/{vulnerability}', `${SIGNALS}/-`] },
  ReviewPatch: { reads: [ASSIGNED], writes: ['/patches/{vulnerability}'] },
  ReleaseFix: { reads: [ASSIGNED, SIGNALS], writes: ['/patches/{vulnerability}', `${SIGNALS}/-`] },
  // Apart from the other signals, which many rules read: what it touches waits while a coordinator decides.
  ReviseSeverity: { reads: [ASSIGNED], writes: ['/severities/{vulnerability}'] },
  ObserveSignals: {
    reads: [ASSIGNED, SIGNALS],
    writes: ['/cves/{vulnerability}', '/knowledge/{vulnerability}', `${SIGNALS}/-`],
  },
  ManageCommitments: {
    reads: [ASSIGNED, '/resolutions/{vulnerability}'],
    writes: ['/commitments/{vulnerability}', '/resolutions/{vulnerability}/-'],
  },
  PrepareDisclosure: {
    reads: [ENTRY, '/patches/{vulnerability}', SIGNALS, '/cves/{vulnerability}', '/knowledge/{vulnerability}'],
    writes: ['/groups/{group}', '/records/{vulnerability}'],
  },
  // All that must hold before a disclosure is looked at anew: it may be long since it was found ready.
  ExecuteDisclosure: {
    reads: [
      `${ENTRY}/embargo`,
      '/patches/{vulnerability}',
      SIGNALS,
      '/cves/{vulnerability}',
      '/knowledge/{vulnerability}',
      '/commitments/{vulnerability}',
      '/resolutions/{vulnerability}',
      '/groups/{group}',
    ],
    writes: [`${ENTRY}/phase`, '/records/{vulnerability}', '/groups/{group}/members/{vulnerability}'],
  },
} as const satisfies Record<string, Process>;

export type ProcessName = keyof typeof processes;

export const roles = {
  Intake: { params: ['organisation', 'maintainer', 'vulnerability'], processes: ['RegisterVulnerability'] },
  Staffing: { params: ['agent', 'vulnerability'], processes: ['AssignAgent'] },
  ReporterCoordination: {
    params: ['organisation', 'maintainer', 'vulnerability'],
    processes: ['SubmitReport', 'NegotiateEmbargo'],
    // The outbound queue and the rate status of one maintainer; `vulnerability` is the entry that is worked on.
    sees: [
      '/queue/{organisation}/{maintainer}',
      '/reports/{organisation}/{maintainer}',
      '/settings/rate_limit',
      '/settings/embargo',
    ],
  },
  PatchTracking: {
    params: ['agent', 'vulnerability'],
    processes: ['DevelopPatch', 'ReviewPatch', 'ReleaseFix', 'ReviseSeverity', 'ObserveSignals'],
    sees: [
      ASSIGNED,
      SIGNALS,
      '/patches/{vulnerability}',
      '/severities/{vulnerability}',
      '/cves/{vulnerability}',
      '/knowledge/{vulnerability}',
    ],
  },
  CommitmentManagement: {
    params: ['agent', 'vulnerability'],
    processes: ['ManageCommitments'],
    sees: [ASSIGNED, '/commitments/{vulnerability}', '/resolutions/{vulnerability}'],
  },
  Disclosure: {
    params: ['group', 'organisation', 'maintainer', 'vulnerability'],
    processes: ['PrepareDisclosure', 'ExecuteDisclosure'],
    sees: [
      ENTRY,
      SIGNALS,
      '/patches/{vulnerability}',
      '/cves/{vulnerability}',
      '/knowledge/{vulnerability}',
      '/commitments/{vulnerability}',
      '/resolutions/{vulnerability}',
      '/records/{vulnerability}',
      // Of its peers, what they show in the group.
      '/groups/{group}',
    ],
  },
} as const satisfies Record<string, Role>;
