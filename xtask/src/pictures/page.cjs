// Takes pictures of one page of a running `opal ui`.
//
// node page.cjs MODULES PROGRAM TICKET PAGE DARK LIGHT
const path = require('path');

const [modules, program, ticket, wanted, dark, light] = process.argv.slice(2);
const puppeteer = require(path.join(modules, 'puppeteer-core'));

async function main() {
  const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--force-device-scale-factor=1'];
  const engine = await puppeteer.launch({ browser: 'chrome', executablePath: program, headless: true, args });
  try {
    const page = await engine.newPage();
    await page.setViewport({ width: 900, height: 300 });
    await page.goto(ticket, { waitUntil: 'load' });
    const base = page.url().replace(/\/inbox$/, '');
    await page.goto(`${base}/${wanted.replace(/\/\*$/, '')}`, { waitUntil: 'load' });
    if (wanted.endsWith('/*')) {
      await Promise.all([page.waitForNavigation({ waitUntil: 'load' }), page.click('td a')]);
    }
    // What a page adds by itself is there soon, or not at all.
    await new Promise((done) => { setTimeout(done, 1000); });
    for (const [scheme, file] of [['dark', dark], ['light', light]]) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      await page.screenshot({ path: file, fullPage: true });
    }
  } finally {
    await engine.close();
  }
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
});
