import { Text } from '@mantine/core';
import { JsonText } from '../../parts/json-text.tsx';
import { Part } from '../../parts/part.tsx';
import type { BeliefChange } from './payload.ts';

/**
 * The changes of the memory that a commit makes. Texts are in the memory, and it may erase them.
 */
export function Beliefs({ changes }: { readonly changes: readonly BeliefChange[] }) {
  if (changes.length === 0) return null;
  return (
    <Part title="Beliefs that changed">
      {changes.map((change) => (
        <div key={`${change.partition.$blob} ${change.version}`}>
          <Text size="sm" mb={4}>
            {changeText(change)}
          </Text>
          <JsonText value={change} label={`Change ${change.version} of a partition`} />
        </div>
      ))}
    </Part>
  );
}

function changeText({ partition, version, insert, close }: BeliefChange): string {
  return `Partition ${partition.$blob.slice(0, 12)}…, change ${version}: ${insert.length} written, ${close.length} closed.`;
}
