import { Stack, Text } from '@mantine/core';
import { Inert } from '../../parts/inert-text.tsx';
import { JsonText } from '../../parts/json-text.tsx';
import { Part } from '../../parts/part.tsx';
import type { GatedCallArgs } from './gated-call-of.ts';

/** The exact call, and its parts by which the rules judged it. */
export function GatedCall({
  call,
  title,
}: {
  readonly call: GatedCallArgs;
  readonly title: string;
}) {
  const { server, tool, args, parts = [] } = call;
  return (
    <Part title={title}>
      <Stack gap="xs">
        <Text fw={600} size="sm">
          <Inert>{`${server}/${tool}`}</Inert>
        </Text>
        <JsonText value={args} label={`Input of ${tool}`} />
        {parts.length > 0 && (
          <ul aria-label="Parts of the call">
            {parts.map((part, n) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two parts may be equal
              <li key={n}>
                <Text size="sm">
                  <Inert>{`${part.server}/${part.tool} ${detailOf(part.args)}`}</Inert>
                </Text>
              </li>
            ))}
          </ul>
        )}
      </Stack>
    </Part>
  );
}

/** The arguments of a program, or the place of another part. */
function detailOf({ argv, path, url, text, query }: GatedCallArgs['args']): string {
  if (Array.isArray(argv))
    return argv.map((word) => (word === null ? '…' : String(word))).join(' ');
  return String(path ?? url ?? text ?? query ?? '');
}
