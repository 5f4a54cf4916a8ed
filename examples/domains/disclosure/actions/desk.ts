/**
 * The desk of the discovering organisation: accepts verified vulnerabilities, and assigns agents to
 * them.
 */
import { z } from 'zod';
import { assignedRole, cveId, severity, text } from '../schema.ts';
import { action, ensured } from './action.ts';
import { entryOf } from './reporter.ts';

export const desk = {
  register_vulnerability: action({
    process: 'RegisterVulnerability',
    description:
      'Take in a validated vulnerability for the maintainer of a receiving organisation. `known_cve` is an identifier that this organisation has on record for it already.',
    args: z.object({ component: text, severity, known_cve: cveId.exactOptional() }),
    apply: (state, { component, severity, known_cve }, { role, at }) => {
      const { organisation, maintainer, vulnerability } = role;
      if (state.vulnerabilities[vulnerability] !== undefined)
        throw new Error(`${vulnerability} is registered already`);
      state.vulnerabilities[vulnerability] = { organisation, maintainer, component };
      const queue = ensured(ensured(state.queue, organisation, {}), maintainer, {});
      ensured(ensured(state.reports, organisation, {}), maintainer, []);
      queue[vulnerability] = { phase: 'DISCOVERED', registered_at: at };
      state.severities[vulnerability] = { initial: severity, current: severity, revisions: [] };
      state.cves[vulnerability] = {
        assigned: known_cve === undefined ? {} : { [known_cve]: { source: 'deduplication', at } },
      };
    },
  }),

  triage_vulnerability: action({
    process: 'RegisterVulnerability',
    description:
      'Decide that a vulnerability is to be reported, with the reason. `severity` is its rating, if it was registered as unrated.',
    args: z.object({ note: text, severity: severity.exactOptional() }),
    apply: (state, { note, severity }, { role, at }) => {
      const { vulnerability } = role;
      const entry = entryOf(state, role);
      if (entry.phase !== 'DISCOVERED')
        throw new Error(`${vulnerability} is ${entry.phase} already`);
      entry.triaged = { at, note };
      entry.phase = 'TRIAGED';
      if (severity === undefined) return;
      const rating = state.severities[vulnerability];
      // The receiving organisation revises a rating, and a coordinator decides on a lower one.
      if (rating?.current !== 'unrated')
        throw new Error(`the severity of ${vulnerability} is ${rating?.current} already`);
      state.severities[vulnerability] = { initial: severity, current: severity, revisions: [] };
    },
  }),

  assign_agent: action({
    process: 'AssignAgent',
    description:
      'Let an agent work on a vulnerability, and so for its organisation, unless it is disclosed.',
    args: z.object({ role: assignedRole }),
    apply: (state, args, { role: { agent, vulnerability }, at }) => {
      const organisation = state.vulnerabilities[vulnerability]?.organisation;
      if (organisation === undefined) throw new Error(`there is no vulnerability ${vulnerability}`);
      const assignment = ensured(state.assignments, agent, { organisation, vulnerabilities: {} });
      const isSecret = state.records[vulnerability]?.disclosed_at === undefined;
      if (isSecret && assignment.organisation !== organisation)
        assignment.organisation = organisation;
      assignment.vulnerabilities[vulnerability] = { role: args.role, since: at };
    },
  }),

  release_agent: action({
    process: 'AssignAgent',
    description: 'Take a vulnerability from an agent.',
    args: z.object({}),
    apply: (state, _, { role: { agent, vulnerability } }) => {
      const { vulnerabilities } = state.assignments[agent] ?? {};
      if (vulnerabilities?.[vulnerability] === undefined)
        throw new Error(`${agent} is not assigned to ${vulnerability}`);
      delete vulnerabilities[vulnerability];
    },
  }),
};
