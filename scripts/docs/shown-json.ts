/** Values as a page shows them: 100 columns wide, without secrets, and cut with an ellipsis. */
import type { Example } from './recording.ts';

const COLUMNS = 100;
const LINES = 100;
const LIST = 3;
const CUT = '…';

/** JSON in several lines. Where it is too long, deep values are cut first. */
export function shownJson(value: unknown): string {
  for (let depth = 8; ; depth -= 1) {
    const text = printed(shown(value, depth), '', 0);
    if (depth === 2 || text.split('\n').length <= LINES) return text;
  }
}

/** Long ids keep their beginning. No token is shown, and no port of the recorded server. */
export function shownText(text: string): string {
  return text
    .replaceAll(/asz_\w+/g, 'asz_…')
    .replaceAll(/[0-9a-f]{32,}/g, (hex) => `${hex.slice(0, 12)}${CUT}`)
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'https://assize.example.com');
}

/** The request as a command of a shell. */
export function shownCurl({ method, path, asked }: Example): string {
  const { query = {}, body, key, headers = {} } = asked;
  const flag = method !== 'get' ? `-X ${method.toUpperCase()} ` : asked.query ? '-G ' : '';
  const parts = [
    `curl ${flag}$ASSIZE_URL${shownText(path)}`,
    '-H "Authorization: Bearer $TOKEN"',
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`]),
    ...(key === undefined ? [] : [`-H 'Idempotency-Key: ${key}'`]),
    ...Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`),
    ...Object.entries(query).map(
      ([name, value]) => `--data-urlencode '${name}=${shownText(value)}'`,
    ),
    ...(body === undefined ? [] : [`-d '${shownJson(body).replaceAll("'", `'\\''`)}'`]),
  ];
  return parts.join(' \\\n  ');
}

/** A list or an object is on one line where it fits, except the outermost one. */
function printed(value: unknown, indent: string, before: number): string {
  const flat = JSON.stringify(value, null, 1).replaceAll(/\n */g, ' ');
  const room = COLUMNS - before - 1;
  if (typeof value === 'string' && flat.length > room)
    return `${flat.slice(0, room - 2).replace(/\\+$/, '')}${CUT}"`;
  const isWhole = indent !== '' && flat.length <= room;
  if (typeof value !== 'object' || value === null || flat.length === 2 || isWhole) return flat;
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const members = Object.entries(value).map(([name, member]) => {
    const head = inner + (Array.isArray(value) ? '' : `${JSON.stringify(name)}: `);
    return head + printed(member, inner, head.length);
  });
  return `${open}\n${members.join(',\n')}\n${indent}${close}`;
}

/** The value without the rest of long lists, and of what is deeper. */
function shown(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return shownText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    if (depth === 0 && value.length > 0) return [CUT];
    const kept = value.length > LIST ? LIST - 1 : LIST;
    const items = value.slice(0, kept).map((item) => shown(item, depth - 1));
    return value.length > LIST ? [...items, `${CUT} ${value.length - kept} more`] : items;
  }
  const members = Object.entries(value);
  if (depth === 0 && members.length > 0) return { [CUT]: CUT };
  return Object.fromEntries(
    members.map(([name, member]) => [shownText(name), shown(member, depth - 1)]),
  );
}
