import { render } from 'preact';
import 'uplot/dist/uPlot.min.css';
import './app/colours.css';
import './app/style.css';
import { App } from './app/App';

const root = document.getElementById('app');
if (root) render(<App />, root);
