import { render } from 'preact'
import { takeKeyFromAddress } from '../parts/request.ts'
import { loadSpeech, preferredLanguage } from '../words/index.ts'
import { Explorer } from './explorer.tsx'
import 'uplot/dist/uPlot.min.css'
import '../parts/base.css'
import './explorer.css'

// Before anything else: the key leaves the address at once.
const offered = takeKeyFromAddress()
const place = document.getElementById('page')
const speech = await loadSpeech(preferredLanguage())
if (place !== null) render(<Explorer firstSpeech={speech} offered={offered} />, place)
performance.mark('perscope.ready')
