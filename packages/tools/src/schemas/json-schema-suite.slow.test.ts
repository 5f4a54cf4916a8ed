import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Json } from 'assize/internal/base';
import { expect, test } from 'vitest';
import { compiled } from './compile.ts';

interface Group {
  readonly description: string;
  readonly schema: Json;
  readonly tests: readonly {
    readonly description: string;
    readonly data: Json;
    readonly valid: boolean;
  }[];
}

/** The required tests of the JSON Schema test suite, with the commit that they come from. */
const path = new URL('../../../../tests/json-schema/suite.json.gz', import.meta.url);
const { drafts } = JSON.parse(gunzipSync(readFileSync(path)).toString('utf8')) as {
  readonly drafts: Readonly<Record<string, Readonly<Record<string, readonly Group[]>>>>;
};

const DRAFT_7 = 'http://json-schema.org/draft-07/schema#';
const DRAFT_4 = 'http://json-schema.org/draft-04/schema#';

/** How many schemas of each file are refused where they are declared, not read in another way. */
const REFUSED: readonly (readonly [
  draft: string,
  $schema: string | undefined,
  refused: Readonly<Record<string, number>>,
])[] = [
  [
    'draft2020-12',
    undefined,
    {
      ...{ boolean_schema: 2, dynamicRef: 20, enum: 1, properties: 1, ref: 3, refRemote: 15 },
      ...{ unevaluatedItems: 29, unevaluatedProperties: 3, vocabulary: 2 },
    },
  ],
  ['draft7', DRAFT_7, { boolean_schema: 2, properties: 1, ref: 1, refRemote: 11 }],
  ['draft4', DRAFT_4, { properties: 1, ref: 1, refRemote: 8 }],
];
/** Of declared tools, also an odd default, a format without a check, and a reference to a draft. */
const ALSO: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'draft2020-12': { default: 3, format: 4, defs: 1, ref: 4 },
  draft7: { default: 3, format: 4, definitions: 1, ref: 2 },
  draft4: { default: 3, definitions: 1, ref: 2 },
};

test.each(
  REFUSED.flatMap(([draft, $schema, refused]) => [
    [draft, $schema, false, refused] as const,
    [draft, $schema, true, { ...refused, ...ALSO[draft] }] as const,
  ]),
)(
  '%s: a schema means what the test suite says, or is refused (%s, %s)',
  (draft, $schema, isOnlyCheck, expected) => {
    const refused: Record<string, number> = {};
    let checked = 0;
    for (const [file, groups] of Object.entries(drafts[draft]!)) {
      for (const { description, schema, tests } of groups) {
        const named =
          $schema === undefined || typeof schema !== 'object'
            ? schema
            : { $schema, ...(schema as object) };
        const { faultOf } = compiled(named, { isOnlyCheck });
        if (faultOf === undefined) refused[file] = (refused[file] ?? 0) + 1;
        else
          for (const one of tests) {
            // Both specifications allow that formats are checked, and here they are.
            if (one.description.endsWith('only an annotation by default')) continue;
            const isValid = faultOf(structuredClone(one.data)) === undefined;
            expect([file, description, one.description, isValid]).toEqual([
              file,
              description,
              one.description,
              one.valid,
            ]);
            checked++;
          }
      }
    }
    expect(refused).toEqual(expected);
    expect(checked).toBeGreaterThan(500);
  },
);
