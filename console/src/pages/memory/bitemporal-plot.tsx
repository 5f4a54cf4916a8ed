import { useElementSize } from '@mantine/hooks';
import { useId } from 'react';
import { useLocation } from 'wouter';
import { localInstant, OPEN_END, OPEN_START, periodText } from '../../parts/times.ts';
import { beginning } from './beginning.ts';
import classes from './bitemporal-plot.module.css';
import { type Scale, scaleOf } from './scale.ts';
import { objectText, type Standing, type Version } from './versions.ts';

interface PlotProps {
  readonly label: string;
  readonly versions: readonly Version[];
  readonly openName: string | undefined;
  /** The chosen instants of both times. */
  readonly asOf: { readonly valid: string | undefined; readonly system: string | undefined };
  readonly hrefOf: (version: Version) => string;
}

const LEFT = 88;
const TOP = 8;
const BOTTOM = 38;
const RIGHT = 16;
const STEP_MIN = 92;
const BAND = 46;
/** The part of a band in which a refused assertion stands, over the version that won. */
const REFUSED = 22;

/** A mean width of the letters of a label. */
const LETTER = 8.4;

/** The words for each standing, for the legend, the table and readers of screens. */
export const STANDINGS: Readonly<Record<Standing, string>> = {
  believed: 'believed now',
  replaced: 'believed before',
  lost: 'lost a contradiction',
  refused: 'refused immediately',
};

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Valid time to the right, system time downwards, and one rectangle for each version. */
export function BitemporalPlot({ label, versions, openName, asOf, hrefOf }: PlotProps) {
  const { ref, width: available } = useElementSize();
  const hatch = useId();
  const [, navigate] = useLocation();
  const valid = scaleOf(versions.map(({ fact }) => ({ from: fact.valid_from, to: fact.valid_to })));
  const system = scaleOf(
    versions.map(({ fact }) => ({ from: fact.system_time_start, to: fact.system_time_end })),
  );
  const step = Math.max(STEP_MIN, (available - LEFT - RIGHT) / valid.steps);
  const width = LEFT + valid.steps * step + RIGHT;
  const height = TOP + system.steps * BAND + BOTTOM;
  const x = (instant: string) => LEFT + valid.at(instant) * step;
  const y = (instant: string) => TOP + system.at(instant) * BAND;
  const boxOf = ({ fact, standing }: Version): Box => {
    const [left, top] = [x(fact.valid_from), y(fact.system_time_start)];
    const isRefused = standing === 'refused';
    return {
      x: left + (isRefused ? 3 : 0),
      y: top + (isRefused ? BAND - REFUSED - 2 : 0),
      width: x(fact.valid_to) - left - (isRefused ? 6 : 0),
      height: isRefused ? REFUSED : y(fact.system_time_end) - top,
    };
  };
  // Refused assertions are above the versions that they lost to.
  const drawn = [...versions].sort(
    (a, b) => Number(a.standing === 'refused') - Number(b.standing === 'refused'),
  );
  return (
    <div ref={ref} className={classes.frame}>
      {/* biome-ignore lint/a11y/useSemanticElements: an SVG has no other element for a group */}
      <svg className={classes.plot} width={width} height={height} role="group" aria-label={label}>
        <defs>
          <pattern
            id={hatch}
            width="7"
            height="7"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <line y2="7" strokeWidth="3" className={classes.hatch} />
          </pattern>
        </defs>
        <Axes
          valid={valid}
          system={system}
          step={step}
          height={height - BOTTOM}
          width={width - RIGHT}
        />
        {drawn.map((version) => (
          <a
            key={version.name}
            href={hrefOf(version)}
            className={classes.version}
            data-standing={version.standing}
            aria-label={spoken(version)}
            aria-current={version.name === openName ? 'true' : undefined}
            onClick={(event) => {
              if (event.metaKey || event.ctrlKey || event.shiftKey) return;
              event.preventDefault();
              navigate(hrefOf(version));
            }}
          >
            <Rectangle version={version} box={boxOf(version)} hatch={hatch} />
          </a>
        ))}
        {asOf.valid !== undefined && (
          <line
            className={classes.asof}
            x1={x(asOf.valid)}
            x2={x(asOf.valid)}
            y1={TOP}
            y2={height - BOTTOM}
          />
        )}
        {asOf.system !== undefined && (
          <line
            className={classes.asof}
            y1={y(asOf.system)}
            y2={y(asOf.system)}
            x1={LEFT}
            x2={width - RIGHT}
          />
        )}
      </svg>
    </div>
  );
}

function Axes({
  valid,
  system,
  step,
  height,
  width,
}: {
  readonly valid: Scale;
  readonly system: Scale;
  readonly step: number;
  readonly height: number;
  readonly width: number;
}) {
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in it takes the focus
    <g aria-hidden="true">
      {valid.ticks.map(({ at, date, time }) => (
        <g key={at} transform={`translate(${LEFT + at * step} 0)`} className={classes.tick}>
          <line y1={TOP} y2={height + 4} />
          <text y={height + 17} textAnchor={at === valid.steps ? 'end' : 'start'}>
            {date}
          </text>
          <text y={height + 31} textAnchor={at === valid.steps ? 'end' : 'start'}>
            {time}
          </text>
        </g>
      ))}
      {system.ticks.map(({ at, date, time }) => (
        <g key={at} transform={`translate(0 ${TOP + at * BAND})`} className={classes.tick}>
          <line x1={LEFT - 4} x2={width} />
          <text x={LEFT - 8} y={10} textAnchor="end">
            {date}
          </text>
          <text x={LEFT - 8} y={23} textAnchor="end">
            {time}
          </text>
        </g>
      ))}
    </g>
  );
}

/** A filled box whose open ends have no border. */
function Rectangle({
  version,
  box,
  hatch,
}: {
  readonly version: Version;
  readonly box: Box;
  readonly hatch: string;
}) {
  const { x, y, width, height } = box;
  const { fact, standing } = version;
  const [right, bottom] = [x + width, y + height];
  const isRefused = standing === 'refused';
  const sides = [
    `M${x} ${y}H${right}`,
    fact.valid_from === OPEN_START ? '' : `M${x} ${y}V${bottom}`,
    fact.valid_to === OPEN_END ? '' : `M${right} ${y}V${bottom}`,
    fact.system_time_end === OPEN_END && !isRefused ? '' : `M${x} ${bottom}H${right}`,
  ].join('');
  return (
    <>
      <title>{spoken(version)}</title>
      <rect x={x} y={y} width={width} height={height} className={classes.fill} />
      {(standing === 'lost' || isRefused) && (
        <rect x={x} y={y} width={width} height={height} fill={`url(#${hatch})`} />
      )}
      <path d={sides} className={classes.sides} />
      {fact.valid_to === OPEN_END && (
        <path d={`M${right - 7} ${y + height / 2 - 4}l5 4l-5 4`} className={classes.arrow} />
      )}
      {fact.system_time_end === OPEN_END && !isRefused && (
        <path d={`M${x + width / 2 - 4} ${bottom - 7}l4 5l4 -5`} className={classes.arrow} />
      )}
      {/* biome-ignore lint/a11y/noSvgWithoutTitle: it only cuts off the label of a titled link */}
      <svg x={x + 4} y={y} width={Math.max(0, width - 18)} height={height}>
        <text x={4} y={isRefused ? 15 : 19} className={classes.label}>
          {beginning(objectText(version), Math.ceil((width - 18) / LETTER))}
        </text>
      </svg>
      <rect
        x={x + 2}
        y={y + 2}
        width={Math.max(0, width - 4)}
        height={Math.max(0, height - 4)}
        className={classes.ring}
      />
    </>
  );
}

function spoken(version: Version): string {
  const { valid_from, valid_to, system_time_start, system_time_end } = version.fact;
  const recorded =
    version.standing === 'refused'
      ? localInstant(system_time_start)
      : periodText(system_time_start, system_time_end, localInstant);
  const held = `True ${periodText(valid_from, valid_to)}. Recorded ${recorded}.`;
  return `${objectText(version)}: ${STANDINGS[version.standing]}. ${held}`;
}
