import { difference } from '../difference.ts';
import type { FilePlan } from './plan.ts';

/** The shortest text that is taken for a secret. */
const SECRET_MIN = 6;

/** The lines that a plan changes. Values of environments and of headers are not shown. */
export function shownLines({ file, after }: Pick<FilePlan, 'file' | 'after'>): readonly string[] {
  const secrets = file.entries.flatMap(({ value }) =>
    ['env', 'headers', 'http_headers'].flatMap((name) => textsIn(value[name])),
  );
  const hidden = secrets.filter((text) => text.length >= SECRET_MIN).flatMap((text) => [text, escaped(text)]);
  return difference(file.text, after).map((line) =>
    hidden.reduce((shown, text) => shown.replaceAll(text, '…'), line).replaceAll('\t', '  '),
  );
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
