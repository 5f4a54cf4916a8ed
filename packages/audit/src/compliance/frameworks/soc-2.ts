import {
  CHANGES,
  IN_DOUBT,
  INCIDENTS,
  REFUSALS,
  RESPONSES,
  REVOKED,
  UNDONE,
} from '../measures/control.ts';
import { outside } from '../measures/measure.ts';
import { ASKED, DECIDED, DECISION_TIME, EXPIRED, HALTED } from '../measures/oversight.ts';
import { CHECKPOINTED, RECORDED, TRACEABLE, VERIFIED, WITNESSED } from '../measures/records.ts';
import type { Framework } from './framework.ts';

/** The trust services criteria of SOC 2 for system operations. */
export const SOC_2: Framework = {
  id: 'soc2-cc7',
  title: 'SOC 2, trust services criteria CC7.1 to CC7.5 (system operations)',
  clauses: [
    {
      id: 'CC7.1',
      title: 'Detect changes of the configuration',
      asks: 'Changes of the configuration that bring in weaknesses are detected.',
      measures: [
        CHANGES,
        TRACEABLE,
        VERIFIED,
        outside(
          'vulnerabilities',
          'Known vulnerabilities are looked for',
          'Attach the scans of dependencies and hosts.',
        ),
      ],
    },
    {
      id: 'CC7.2',
      title: 'Monitor for anomalies',
      asks: 'The system is monitored for anomalies that may be attacks, disasters or errors.',
      measures: [RECORDED, REFUSALS, CHECKPOINTED, WITNESSED],
    },
    {
      id: 'CC7.3',
      title: 'Evaluate events',
      asks: 'Security events are evaluated: did they, or could they, fail the objectives?',
      measures: [ASKED, DECIDED, DECISION_TIME, EXPIRED, IN_DOUBT],
    },
    {
      id: 'CC7.4',
      title: 'Respond to incidents',
      asks: 'Incidents are contained, remedied and communicated by a defined programme.',
      measures: [
        HALTED,
        REVOKED,
        INCIDENTS,
        RESPONSES,
        UNDONE,
        outside(
          'response',
          'A programme for incidents exists and people know it',
          'Attach the programme and the record of each incident.',
        ),
      ],
    },
    {
      id: 'CC7.5',
      title: 'Recover',
      asks: 'The system is restored after incidents, and the recovery is tested.',
      measures: [
        UNDONE,
        IN_DOUBT,
        outside(
          'restores',
          'Backups are restored as a test',
          'Attach the records of assize backup and of restore drills: no ledger has them.',
        ),
      ],
    },
  ],
};
