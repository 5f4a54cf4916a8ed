import { Select, Text } from '@mantine/core';
import type { TrajectoryInfo } from '../../api/trajectories-query.ts';
import { Inert } from '../../parts/inert-text.tsx';
import { type Domain, otherVersions } from './versions.ts';

interface FieldProps {
  readonly domains: readonly Domain[];
  readonly trajectory: TrajectoryInfo;
  /** The hash of a version. */
  readonly value: string | undefined;
  readonly onChange: (hash: string | undefined) => void;
}

/** The other versions of the domain of a trajectory that the server has. */
export function VersionField({ domains, trajectory, value, onChange }: FieldProps) {
  const { name, version } = trajectory.domain;
  const versions = otherVersions(domains, trajectory);
  if (versions.length === 0)
    return (
      <Text size="sm">
        The world has <Inert>{`${name}@${version}`}</Inert>, and the server has no other version of
        it. Add one to the configuration of the server, or try a rule table.
      </Text>
    );
  return (
    <Select
      size="xs"
      label="Version"
      descriptionProps={{ fz: 'xs' }}
      description={`Recorded: ${name}@${version} (${trajectory.domain.hash.slice(0, 12)})`}
      placeholder="Choose a version"
      data={versions.map((one) => ({
        value: one.hash,
        label: `${one.name}@${one.version} (${one.hash.slice(0, 12)})`,
      }))}
      value={versions.some(({ hash }) => hash === value) ? (value ?? null) : null}
      onChange={(hash) => onChange(hash ?? undefined)}
    />
  );
}
