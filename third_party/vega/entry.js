// All that a report needs of Vega: specs in, SVG out. Expressions are interpreted, so that a page can forbid eval.
import { parse, View } from 'vega';
import { expressionInterpreter } from 'vega-interpreter';
import { compile } from 'vega-lite';

globalThis.memsweepCharts = { compile, expressionInterpreter, parse, View };
