/**
 * The Disclosure Agent: groups vulnerabilities for joint disclosure, marks them ready, and
 * discloses them.
 */
import { z } from 'zod';
import {
  type CoDisclosureGroup,
  cveId,
  type DisclosureState,
  type GroupMember,
  instant,
  sha256,
  text,
} from '../schema.ts';
import { action, ensured } from './action.ts';
import { entryOf } from './reporter.ts';

function memberOf(state: DisclosureState, group: string, vulnerability: string): GroupMember {
  const member = state.groups[group]?.members[vulnerability];
  if (member === undefined)
    throw new Error(`${vulnerability} is not a member of the group ${group}`);
  return member;
}

export const disclosing = {
  join_group: action({
    process: 'PrepareDisclosure',
    description:
      'Plan to disclose a vulnerability with a group, at the planned time of the group. A single disclosure is a group of one.',
    args: z.object({ planned_at: instant }),
    apply: (state, { planned_at }, { role, at }) => {
      const { organisation, maintainer, vulnerability } = role;
      entryOf(state, role);
      const empty: CoDisclosureGroup = { planned_at, members: {}, left: [] };
      const group = ensured(state.groups, role.group, empty);
      if (group.planned_at !== planned_at)
        throw new Error(`the group ${role.group} is planned for ${group.planned_at}`);
      if (group.members[vulnerability] !== undefined)
        throw new Error(`${vulnerability} is in ${role.group} already`);
      group.members[vulnerability] = { organisation, maintainer, joined_at: at };
    },
  }),

  leave_group: action({
    process: 'PrepareDisclosure',
    description: 'Remove a vulnerability from its group. A coordinator decides.',
    args: z.object({ reason: text }),
    apply: (state, { reason }, { role, at }) => {
      const { disclosed_at } = memberOf(state, role.group, role.vulnerability);
      if (disclosed_at !== undefined)
        throw new Error(`${role.vulnerability} has been disclosed with the group`);
      const group = state.groups[role.group] as CoDisclosureGroup;
      delete group.members[role.vulnerability];
      group.left.push({ vulnerability: role.vulnerability, reason, at });
      delete state.records[role.vulnerability];
    },
  }),

  assert_readiness: action({
    process: 'PrepareDisclosure',
    description:
      'Declare a vulnerability ready for disclosure, with its record: the patch link or its absence reason, identifiers, and attribution.',
    args: z.object({
      patch_link: text.exactOptional(),
      patch_unavailable: text.exactOptional(),
      cves: z.array(cveId).max(100),
      attribution: z.array(text).max(1_000),
    }),
    apply: (state, args, { role, at }) => {
      const { group, organisation, maintainer, vulnerability } = role;
      const member = memberOf(state, group, vulnerability);
      if (state.records[vulnerability]?.disclosed_at !== undefined)
        throw new Error('it has been disclosed');
      // A corrected record was ready before: peers may have been disclosed because of it.
      const ready_at = member.ready_at ?? at;
      state.records[vulnerability] = {
        organisation,
        maintainer,
        group,
        ready_at,
        ...args,
        resolved: [],
      };
      member.ready_at = ready_at;
    },
  }),

  execute_disclosure: action({
    process: 'ExecuteDisclosure',
    description:
      'Disclose a vulnerability with the record it is ready with. `resolved` are the commitments that were opened.',
    args: z.object({ resolved: z.array(sha256).max(1_000) }),
    apply: (state, { resolved }, { role, at }) => {
      const { group, vulnerability } = role;
      const member = memberOf(state, group, vulnerability);
      const record = state.records[vulnerability];
      if (record === undefined) throw new Error(`${vulnerability} is not ready`);
      if (record.group !== group)
        throw new Error(`${vulnerability} is ready for the group ${record.group}`);
      if (record.disclosed_at !== undefined) throw new Error('it has been disclosed');
      record.resolved = resolved;
      record.disclosed_at = at;
      member.disclosed_at = at;
      entryOf(state, role).phase = 'DISCLOSED';
    },
  }),
};
