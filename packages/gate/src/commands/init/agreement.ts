import { asksYes, bold, CliError, canAsk, line, type Session } from '@assize/command';

/** The change of one file, as the lines that differ. */
export interface ShownChange {
  readonly path: string;
  readonly lines: readonly string[];
}

/**
 * Shows the changes of files, and asks for agreement. `yes` agrees to all of them, and without a
 * line that changes nothing is asked.
 *
 * @throws CliError `usage` without a terminal
 */
export async function agreesTo(
  { out, json, interruption }: Session,
  { yes, changes }: { readonly yes: boolean | undefined; readonly changes: readonly ShownChange[] },
): Promise<boolean> {
  const shown = changes.filter(({ lines }) => lines.length > 0);
  if (shown.length === 0) {
    if (!json) out.line(line`Nothing to change.`);
    return true;
  }
  if (!json)
    for (const { path, lines } of shown) {
      out.line(bold(`Changes of ${path}`));
      for (const each of lines) out.line(line`${each}`);
    }
  if (yes === true) return true;
  const paths = shown.map(({ path }) => path).join(', ');
  if (!canAsk())
    throw new CliError(
      'usage',
      `The command would change ${paths}. Pass --yes, or run it in a terminal.`,
    );
  return asksYes(`Change ${paths}?`, interruption);
}
