/**
 * The twelve processes of a vulnerability, with the paths that each can touch, and their roles: the
 * four agents of Agentic Redux, Table 3, with their slices, and the discovering organisation's own
 * desk. The desk accepts verified vulnerabilities (`Intake`) and assigns agents (`Staffing`).
 */
import type { Process, Role } from 'assize/internal/kernel';

const ENTRY = '/queue/{organisation}/{maintainer}/{vulnerability}';
/** The agent is assigned to the vulnerability. */
const ASSIGNED = '/assignments/{agent}/vulnerabilities/{vulnerability}';
const SIGNALS = '/signals/{vulnerability}';

export const processes = {
  RegisterVulnerability: {
    // The first vulnerability of a maintainer creates the queue and the list of reports.
    writes: [
      '/vulnerabilities/{vulnerability}',
      ENTRY,
      '/reports/{organisation}/{maintainer}/-',
      '/severities/{vulnerability}',
      '/cves/{vulnerability}',
    ],
  },
  AssignAgent: {
    reads: [
      '/vulnerabilities/{vulnerability}/organisation',
      '/records/{vulnerability}/disclosed_at',
    ],
    writes: ['/assignments/{agent}'],
  },
  SubmitReport: {
    reads: [
      '/queue/{organisation}/{maintainer}',
      '/reports/{organisation}/{maintainer}',
      '/settings/rate_limit',
    ],
    writes: [ENTRY, '/reports/{organisation}/{maintainer}/-'],
  },
  NegotiateEmbargo: { reads: ['/settings/embargo'], writes: [ENTRY] },
  DevelopPatch: {
    reads: [ASSIGNED, SIGNALS],
    writes: ['/patches/{vulnerability}', `${SIGNALS}/-`],
  },
  ReviewPatch: { reads: [ASSIGNED], writes: ['/patches/{vulnerability}'] },
  ReleaseFix: { reads: [ASSIGNED, SIGNALS], writes: ['/patches/{vulnerability}', `${SIGNALS}/-`] },
  // Separate from the other signals, because many rules read those: its paths are frozen while
  // a coordinator decides.
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
    reads: [
      ENTRY,
      '/patches/{vulnerability}',
      SIGNALS,
      '/cves/{vulnerability}',
      '/knowledge/{vulnerability}',
    ],
    writes: ['/groups/{group}', '/records/{vulnerability}'],
  },
  // All preconditions of a disclosure are checked again: the vulnerability may have become ready
  // long ago.
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
    writes: [
      `${ENTRY}/phase`,
      '/records/{vulnerability}',
      '/groups/{group}/members/{vulnerability}',
    ],
  },
} as const satisfies Record<string, Process>;

export type ProcessName = keyof typeof processes;

export const roles = {
  Intake: {
    params: ['organisation', 'maintainer', 'vulnerability'],
    processes: ['RegisterVulnerability'],
  },
  Staffing: { params: ['agent', 'vulnerability'], processes: ['AssignAgent'] },
  ReporterCoordination: {
    params: ['organisation', 'maintainer', 'vulnerability'],
    processes: ['SubmitReport', 'NegotiateEmbargo'],
    // The outbound queue and the rate status of one maintainer. `vulnerability` is the entry in
    // progress.
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
      // The parts of its peers that the group shows.
      '/groups/{group}',
    ],
  },
} as const satisfies Record<string, Role>;
